"""GreedyMiser is plain boosting where nothing costs anything, and pays once for what is new where it does."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetprune import BudgetPruneClassifier, FeatureCosts, Forest, InvalidInputError, PruningProblem
from budgetprune.baselines import GreedyMiser, GreedyMiserRegressor
from budgetprune.problem.boosting import recompute

from .miser_twin import boosted_scores
from .noise import differs_by_noise


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@parametrize_with_checks([GreedyMiser(5), GreedyMiserRegressor(10, cost_weight=1e-3)])
def test_checks(estimator, check):
    check(estimator)


# --- Without costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [None, 2, 3])
def test_without_costs_it_is_plain_boosting(classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3)).astype(np.float32)
    weight = random.uniform(0.5, 2.0, 40)  # classes leave few residuals; so no two splits are equally good
    noisy = X @ [1.0, -0.5, 0.2] + random.normal(0, 0.5, 40)
    target = noisy if classes is None else np.digitize(noisy, np.quantile(noisy, [0.4, 0.7])[: classes - 1])
    settings = {"learning_rate": 0.3, "max_depth": 2}
    make = GreedyMiserRegressor if classes is None else GreedyMiser
    free = make(4, **settings, costs=0.0, cost_weight=1.0, random_state=0).fit(X, target, weight)
    not_weighed = make(4, **settings, costs=[1.0, 2.0, 3.0], random_state=0).fit(X, target, weight)
    scores = boosted_scores(X, target, weight, 4, 0.3, 2, classes=classes)
    for model in (free, not_weighed):
        np.testing.assert_allclose(model.forest_.scores(X), scores, rtol=1e-9, atol=1e-9)
    if classes is None:
        np.testing.assert_allclose(free.predict(X), scores[:, 0])
    elif classes == 2:
        np.testing.assert_allclose(free.predict_proba(X)[:, 1], expit(scores[:, 0]))
    else:
        np.testing.assert_allclose(free.predict_proba(X), softmax(scores, axis=1))


@pytest.mark.parametrize(
    ("load", "make", "peer"),
    [
        (load_diabetes, GreedyMiserRegressor, GradientBoostingRegressor),
        (load_breast_cancer, GreedyMiser, GradientBoostingClassifier),
        (load_wine, GreedyMiser, GradientBoostingClassifier),
    ],
)
def test_without_costs_it_is_as_good_as_scikit_learns_boosting(load, make, peer):
    X, y = load(return_X_y=True)
    scores = []
    for seed in range(5):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        ours = make(20, max_depth=3, random_state=seed).fit(X_train, y_train)
        theirs = peer(n_estimators=20, max_depth=3, random_state=seed).fit(X_train, y_train)
        scores.append([model.score(X_test, y_test) for model in (ours, theirs)])
    assert differs_by_noise(scores)


# --- With costs ---------------------------------------------------------------------------------------------


def used(model):
    return set(model.forest_.feature[model.forest_.is_split].tolist())


def test_dearer_costs_mean_fewer_features(wine, diabetes):
    for make, rows, weights in (
        (GreedyMiser, wine, [0.0, 1e-3, 1e-2, 0.1, 10.0]),
        (GreedyMiserRegressor, diabetes, [0.0, 100.0, 300.0, 1e3, 1e6]),
    ):
        models = [make(10, cost_weight=weight, random_state=0).fit(*rows) for weight in weights]
        numbers = [len(used(model)) for model in models]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] > numbers[2] > numbers[-1] == 0
        means = [model.acquisition_cost(rows[0]).mean() for model in models]
        assert means == sorted(means, reverse=True)


def columns(*patterns):
    """Features of eight rows, from strings of digits."""
    return np.array([[float(digit) for digit in pattern] for pattern in patterns]).T


def test_a_split_is_made_if_it_lowers_the_loss_by_more_than_its_price():
    X, y = columns("00001111"), np.repeat([-1.0, 1.0], 4)  # the split lowers the mean square from 1 to 0
    for cost_weight, n_splits in ((0.999, 1), (1.001, 0)):
        model = GreedyMiserRegressor(1, learning_rate=1.0, cost_weight=cost_weight).fit(X, y)
        assert model.forest_.n_splits == n_splits


def test_what_earlier_trees_used_is_free():
    # Feature 1 is a little worse than feature 0. The first tree pays for feature 0; later ones keep to it.
    X = columns("00001111", "00000111")
    y = np.repeat([-1.0, 1.0], 4)
    model = GreedyMiserRegressor(5, max_depth=1, cost_weight=0.05, random_state=0).fit(X, y)
    forest = model.forest_
    assert forest.feature[forest.tree_start[:-1]].tolist() == [0] * 5
    # The gain falls below the price after a few rounds, and would not be worth it any more.
    residual = y - model.predict(X)
    assert residual.var() * 1.0 < 0.5
    late = GreedyMiserRegressor(1, max_depth=1, cost_weight=0.5, random_state=0).fit(X, residual)
    assert late.forest_.n_splits == 0


def test_within_a_tree_a_new_feature_is_charged_once():
    # Two levels: feature 0 halves the rows, feature 1 halves both halves. Each of its two splits lowers the
    # mean square by 1/8: too little to pay 0.15, though both together were worth it.
    X = columns("00001111", "00110011")
    y = np.array([-3.0, -3.0, -2.0, -2.0, 2.0, 2.0, 3.0, 3.0])
    n_splits = {
        weight: GreedyMiserRegressor(1, max_depth=2, cost_weight=weight).fit(X, y).forest_.n_splits
        for weight in (0.15, 0.1, 0.0)
    }
    assert n_splits == {0.15: 1, 0.1: 3, 0.0: 3}
    # Once the first of them has paid, the second is free, however little it lowers.
    y[5:] = [2.0, 2.1, 2.1]
    uneven = GreedyMiserRegressor(1, max_depth=2, cost_weight=0.1).fit(X, y).forest_
    assert sorted(uneven.feature[uneven.is_split].tolist()) == [0, 1, 1]


def test_shared_sources_are_paid_once():
    # Feature 1 alone would be too dear; but it needs what feature 0 has bought.
    X = columns("00001111", "00110011")
    y = np.array([-3.0, -3.0, -2.0, -2.0, 2.0, 2.0, 3.0, 3.0])
    apart = FeatureCosts([1.0, 1.0])
    shared = FeatureCosts.from_sources({"draw": 1.0}, {0: "draw", 1: "draw"})
    settings = {"max_depth": 2, "cost_weight": 0.2}
    assert used(GreedyMiserRegressor(1, costs=apart, **settings).fit(X, y)) == {0}
    model = GreedyMiserRegressor(1, costs=shared, **settings).fit(X, y)
    assert used(model) == {0, 1}
    np.testing.assert_array_equal(model.acquisition_cost(X), 1.0)


def test_classes_share_what_is_paid_for(wine):
    model = GreedyMiser(10, cost_weight=0.02, random_state=0).fit(*wine)
    forest = model.forest_
    assert forest.n_trees == 30
    features = [
        set(forest.feature[forest.is_split & (forest.tree_output[forest.tree_of_node] == k)].tolist())
        for k in range(3)
    ]
    # Ensembles that paid each for themselves would hardly agree on so few.
    assert len(set.union(*features)) <= max(map(len, features)) + 1
    assert model.score(*wine) > 0.9


# --- What is made of it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["squared", "logistic", "softmax"])
def test_gains_and_inner_values_are_those_of_the_training_rows(wine, diabetes, kind):
    X, y = diabetes if kind == "squared" else wine
    make = GreedyMiserRegressor if kind == "squared" else GreedyMiser
    if kind == "logistic":
        X, y = X[y < 2], y[y < 2]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = make(5, cost_weight=1e-3, random_state=0).fit(X, y, sample_weight=weight)
    measured = recompute(model.forest_, X, y, weight)
    assert model.forest_.loss == kind
    np.testing.assert_allclose(model.forest_.split_gain, measured.split_gain, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.forest_.value, measured.value, rtol=1e-5, atol=1e-8)
    assert np.all(model.forest_.split_gain[model.forest_.is_split] > 0)


def test_it_can_be_pruned_further(wine):
    X, y = wine
    model = GreedyMiser(10, random_state=0).fit(X, y)
    assert Forest.from_model(model) is model.forest_
    path = PruningProblem(model.forest_, X).path()
    cheap = path.at(budget=3.0)
    assert cheap.cost < 3.001 < path.unpruned.cost
    assert np.mean(cheap.forest.predict(X) == y) > 0.9
    pruned = BudgetPruneClassifier(GreedyMiser(10), budget=3.0, random_state=0).fit(X, y)
    assert pruned.score(X, y) > 0.8


def test_first_rounds_are_those_of_a_shorter_fit(wine):
    X, y = wine
    settings = {"cost_weight": 0.01, "random_state": 0}
    long, short = (GreedyMiser(n, **settings).fit(X, y) for n in (8, 3))
    shortened = long.first_rounds(3)
    np.testing.assert_array_equal(shortened.predict_proba(X), short.predict_proba(X))
    np.testing.assert_array_equal(shortened.acquisition_cost(X), short.acquisition_cost(X))
    assert shortened.n_estimators == 3
    assert shortened.forest_.n_trees == 9
    assert long.forest_.n_trees == 24
    for wrong in (0, 9):
        with pytest.raises(InvalidInputError, match="from 1 to 8"):
            long.first_rounds(wrong)


def test_certainty_does_not_make_steps_endless():
    X = np.arange(40.0)[:, np.newaxis]
    y = (X[:, 0] > 19).astype(int)
    y[0] = 1  # found out late, when its class is all but impossible
    model = GreedyMiser(300, learning_rate=1.0, max_depth=1, random_state=0).fit(X, y)
    assert np.isfinite(model.forest_.value).all()
    assert model.score(X, y) == 1.0


def test_missing_values_tables_and_pickles():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 3)), columns=["age", "dose", "noise"])
    y = np.where(table["age"] > 0, "ill", "well")
    table.loc[random.random(300) < 0.3, "age"] = np.nan
    y[np.isnan(table["age"])] = "ill"
    costs = {"age": 1.0, "dose": 2.0, "noise": 0.5}
    model = GreedyMiser(20, costs=costs, cost_weight=0.01, random_state=0).fit(table, y)
    assert model.score(table, y) > 0.97
    assert used(model) == {0}
    np.testing.assert_array_equal(model.acquisition_cost(table), 1.0)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(table), model.predict_proba(table))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number"),
        ({"learning_rate": 0.0}, "learning_rate is 0"),
        ({"learning_rate": -0.1}, "learning_rate must be"),
        ({"cost_weight": -1.0}, "cost_weight must be"),
        ({"cost_weight": np.inf}, "cost_weight must be"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_bins": 1}, "max_bins"),
        ({"costs": {"x0": 1.0}}, "costs lacks"),
    ],
)
def test_parameters_that_make_no_sense(wine, parameters, words):
    for make in (GreedyMiser, GreedyMiserRegressor):
        with pytest.raises(InvalidInputError, match=words):
            make(**{"n_estimators": 2, **parameters}).fit(*wine)


def test_a_single_class_is_none(wine):
    X, y = wine
    with pytest.raises(InvalidInputError, match="1 class only, 0"):
        GreedyMiser(2).fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(InvalidInputError, match="others have weight 0"):
        GreedyMiser(2).fit(X, y, sample_weight=(y == 1).astype(float))
    # Of three classes, one may be without weight: nothing is known of it.
    model = GreedyMiser(5, random_state=0).fit(X, y, sample_weight=(y < 2).astype(float))
    assert set(model.predict(X)) == {0, 1}
    assert model.predict_proba(X).shape == (len(y), 3)
