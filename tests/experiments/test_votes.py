"""Majority votes equal what a plain count of the trees' own answers gives."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor

from budgetprune import Forest
from budgetprune.errors import InvalidInputError
from budgetprune_experiments.votes import are_tied, count_votes, majority


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    rows = np.random.default_rng(0).permutation(len(y))
    model = RandomForestClassifier(7, max_depth=2, random_state=0).fit(X[rows[:60]], labels[rows[:60]])
    return model, X[rows[60:]].astype(np.float32), labels[rows[60:]]


def plain_vote(model, row):
    """Ask each tree for its label; the most frequent one wins, of equals the first in order."""
    ballots = Counter(model.classes_[int(tree.predict(row[np.newaxis])[0])] for tree in model.estimators_)
    most = max(ballots.values())
    return ballots, min(label for label, count in ballots.items() if count == most)


def test_votes_are_those_of_the_trees(iris):
    model, X, _ = iris
    forest = Forest.from_model(model)
    votes = count_votes(forest, X)
    labels, tied = majority(forest, votes), are_tied(votes)
    assert votes.sum(axis=1).tolist() == [7] * len(X)
    for i, row in enumerate(X):
        ballots, winner = plain_vote(model, row)
        assert dict(zip(model.classes_, votes[i].tolist(), strict=True)) == {
            label: ballots.get(label, 0) for label in model.classes_
        }
        assert labels[i] == winner
        assert tied[i] == (list(ballots.values()).count(max(ballots.values())) > 1)


def test_ties_go_to_the_first_class():
    votes = np.array([[2, 2, 1], [1, 2, 2], [5, 0, 0]])
    assert are_tied(votes).tolist() == [True, True, False]
    X, y = load_iris(return_X_y=True)
    forest = Forest.from_model(RandomForestClassifier(2, random_state=0).fit(X, y))
    assert majority(forest, votes).tolist() == [0, 1, 0]


def test_pure_leaves_vote_as_they_sum(iris):
    """Where every leaf has one class, both rules are the same (the paper, below Algorithm 1)."""
    _, X, y = iris
    model = RandomForestClassifier(9, random_state=1, bootstrap=False, max_features=1).fit(X, y)
    forest = Forest.from_model(model)
    fresh = X + np.random.default_rng(0).normal(scale=0.2, size=X.shape).astype(np.float32)
    assert np.array_equal(majority(forest, count_votes(forest, fresh)), forest.predict(fresh))


@pytest.mark.parametrize("model", [GradientBoostingClassifier(n_estimators=2), RandomForestRegressor(2)])
def test_trees_that_have_no_vote(iris, model):
    _, X, y = iris
    forest = Forest.from_model(model.fit(X, y == "setosa"))
    with pytest.raises(InvalidInputError, match="vote"):
        count_votes(forest, X)
