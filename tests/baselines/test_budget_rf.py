"""BudgetRF is scikit-learn's forest where prices are equal, and smaller where impurity is tolerated."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetprune import BudgetPruneClassifier, FeatureCosts, Forest, InvalidInputError, PruningProblem
from budgetprune.baselines import BudgetRF

from .noise import differs_by_noise

ENTROPY = {"impurity": "entropy", "rule": "expected"}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@parametrize_with_checks(
    [BudgetRF(5), BudgetRF(5, **ENTROPY, bootstrap=False, threshold=0.1, max_features="sqrt")],
    # A bootstrap draws by weight: with other rows, it draws others.
    expected_failed_checks=lambda estimator: (
        {f"check_sample_weight_equivalence_on_{rows}_data": "bootstraps" for rows in ("dense", "sparse")}
        if estimator.bootstrap
        else {}
    ),
)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("load", "n_seeds"), [(load_breast_cancer, 6), (load_digits, 3)])
def test_entropy_with_equal_prices_is_scikit_learns_forest(load, n_seeds):
    X, y = load(return_X_y=True)
    accuracies = []
    for seed in range(n_seeds):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        models = (
            BudgetRF(15, **ENTROPY, costs=3.0, random_state=seed),
            RandomForestClassifier(15, criterion="entropy", max_features=None, random_state=seed),
        )
        accuracies.append([model.fit(X_train, y_train).score(X_test, y_test) for model in models])
    assert differs_by_noise(accuracies)


def test_a_single_tree_is_scikit_learns_where_values_are_few():
    # Without a bootstrap and with a bin for every value, both try the same splits.
    random = np.random.default_rng(0)
    X = random.integers(0, 50, size=(400, 3)).astype(np.float32)
    y = (X @ [1.0, -1.0, 0.5] + random.normal(0, 8, 400) > 10).astype(int)
    ours = BudgetRF(1, **ENTROPY, bootstrap=False, max_depth=4, random_state=0).fit(X, y)
    theirs = RandomForestClassifier(
        1, criterion="entropy", max_features=None, bootstrap=False, max_depth=4, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    # Ties between features are drawn in both, so nodes may come in another order.
    own, peer = ours.forest_, Forest.from_model(theirs)
    assert sorted(own.class_weight.tolist()) == sorted(peer.class_weight.tolist())
    assert own.n_splits == peer.n_splits > 8


@pytest.mark.parametrize(
    ("settings", "thresholds"),
    [({}, [0.0, 1.0, 4.0, 16.0, 1e6]), (ENTROPY, [0.0, 0.3, 0.7, 1.2, 5.0])],
)
def test_larger_thresholds_make_smaller_trees(wine, settings, thresholds):
    models = [BudgetRF(8, **settings, threshold=a, random_state=0).fit(*wine) for a in thresholds]
    sizes = [model.forest_.n_splits for model in models]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3] > sizes[4] == 0
    costs = [model.acquisition_cost(wine[0]).mean() for model in models]
    assert costs[0] > costs[2] > costs[4] == 0


def test_leaves_are_as_pure_as_was_asked(wine):
    X, y = wine
    forest = BudgetRF(8, **ENTROPY, threshold=0.4, random_state=0).fit(X, y).forest_
    share = forest.class_weight / forest.weight[:, np.newaxis]
    bits = -np.sum(np.where(share > 0, share * np.log2(np.maximum(share, 1e-300)), 0.0), axis=1)
    # Continuous features can part any two rows, so nothing ends before it is pure enough.
    assert np.all(bits[~forest.is_split] < 0.4)
    assert np.all(bits[forest.is_split] >= 0.4)


def test_dear_features_are_avoided(wine):
    X, y = wine
    plain = BudgetRF(8, **ENTROPY, random_state=0).fit(X, y)
    favourite = np.bincount(plain.forest_.feature[plain.forest_.is_split]).argmax()
    costs = np.ones(X.shape[1])
    costs[favourite] = 50.0
    dear = BudgetRF(8, **ENTROPY, costs=costs, random_state=0).fit(X, y)
    assert np.count_nonzero(dear.forest_.feature == favourite) == 0
    assert dear.score(X, y) > 0.95


def test_a_feature_costs_all_of_its_sources():
    X = np.column_stack([[0, 0, 1, 1], [0, 0, 1, 1]])
    y = [0, 0, 1, 1]
    # The two are alike, but one needs a shared source on top; every split of a forest of stumps avoids it.
    costs = FeatureCosts([1.0, 1.0], groups=["lab", None], group_costs={"lab": 0.5})
    model = BudgetRF(10, costs=costs, bootstrap=False, random_state=0).fit(X, y)
    assert set(model.forest_.feature) == {-1, 1}
    np.testing.assert_array_equal(model.acquisition_cost(X), 1.0)


def test_a_forest_that_can_be_pruned(wine):
    X, y = wine
    model = BudgetRF(8, random_state=0).fit(X, y)
    forest = Forest.from_model(model)
    assert forest is model.forest_
    counts = forest.in_bag_counts(len(X))
    for tree, root in zip(counts, forest.tree_start[:-1], strict=True):
        np.testing.assert_array_equal(forest.class_weight[root], np.bincount(y, tree))
    for error in ("in-bag", "out-of-bag", "pooled"):
        rows = {} if error == "in-bag" else {"X_train": X, "y_train": y}
        path = PruningProblem(forest, X, y, error=error, **rows).path()
        assert path.at(budget=3.0).cost < 3.001
    pruned = BudgetPruneClassifier(BudgetRF(8), budget=3.0, random_state=0).fit(X, y)
    assert pruned.acquisition_cost(X).mean() < model.acquisition_cost(X).mean()
    assert pruned.score(X, y) > 0.8


def test_weights(wine):
    X, y = wine
    # Without a bootstrap, a weight is a number of copies.
    random = np.random.default_rng(0)
    weight = random.integers(0, 4, len(y))
    weight[y == 2] = 0
    settings = {**ENTROPY, "bootstrap": False, "random_state": 0}
    weighted = BudgetRF(2, **settings).fit(X, y, sample_weight=weight)
    copied = BudgetRF(2, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(weighted.forest_.class_weight[:, :2], copied.forest_.class_weight)
    # With one, rows are drawn in proportion.
    drawn = BudgetRF(30, random_state=0).fit(X, y, sample_weight=weight)
    counts = drawn.forest_.in_bag_counts(len(X))
    assert np.all(counts[:, weight == 0] == 0)
    by_weight = [counts[:, weight == w].mean() for w in (1, 2, 3)]
    np.testing.assert_allclose(np.array(by_weight) / by_weight[0], [1, 2, 3], rtol=0.15)
    # Any scale and any numbers will do.
    fractions = BudgetRF(2, **settings).fit(X, y, sample_weight=0.3 * weight)
    np.testing.assert_allclose(fractions.predict_proba(X), weighted.predict_proba(X), atol=1e-12)


def test_missing_values_find_a_side():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    y = (X[:, 0] > 0).astype(int)
    X[random.random(600) < 0.3, 0] = np.nan
    missing = np.isnan(X[:, 0])
    y[missing] = 1  # that it is missing says it all
    model = BudgetRF(10, **ENTROPY, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.97
    assert model.score(X[400:][missing[400:]], y[400:][missing[400:]]) == 1.0
    # What was never missing in training may be so later.
    X_test = X[400:].copy()
    X_test[:, 1] = np.nan
    assert model.score(X_test, y[400:]) > 0.95


def test_what_was_never_missing_goes_with_the_greater_weight():
    X, y, weight = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1], [9, 1, 1, 1]
    weighted = BudgetRF(1, bootstrap=False).fit(X, y, weight)
    copied = BudgetRF(1, bootstrap=False).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.predict([[np.nan]]) == copied.predict([[np.nan]]) == 0


def test_threads_and_seeds_change_nothing_and_everything(wine):
    X, y = wine
    one, two, other = (
        BudgetRF(6, max_features="sqrt", n_jobs=n_jobs, random_state=seed).fit(X, y).forest_
        for n_jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(one.threshold, two.threshold)
    np.testing.assert_array_equal(one.feature, two.feature)
    assert one.n_nodes != other.n_nodes or not np.array_equal(one.feature, other.feature)


def test_tables_names_and_pickles(wine):
    X, y = wine
    names = [f"test {k}" for k in range(X.shape[1])]
    table, labels = pd.DataFrame(X, columns=names), np.array(["a", "b", "c"])[y]
    model = BudgetRF(4, costs=dict.fromkeys(names, 2.0), random_state=0).fit(table, labels)
    assert model.forest_.feature_names == tuple(names)
    assert set(model.predict(table)) == {"a", "b", "c"}
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(table), model.predict_proba(table))
    assert copied.forest_.in_bag_counts(len(X)).sum() == 4 * len(X)
    assert np.all(copied.acquisition_cost(table) % 2 == 0)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, not 0"),
        ({"max_bins": 256}, "max_bins must be a whole number from 2 to 255, not 256"),
        ({"max_bins": 2.5}, "max_bins"),
        ({"bootstrap": "no"}, "bootstrap='no' is unknown"),
        ({"impurity": "gini"}, "impurity='gini' is unknown; use 'pairs', 'entropy'"),
        ({"rule": None}, "rule=None is unknown; use 'minimax', 'expected'"),
        ({"threshold": -1}, "threshold must be a finite number of at least 0"),
        ({"threshold": "low"}, "threshold"),
        ({"max_features": 14}, "from 1 to 13"),
        ({"max_features": 0.0}, "max_features"),
        ({"max_features": "all"}, "max_features"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"costs": [1.0, 2.0]}, "costs has 2 entries for 13 features"),
    ],
)
def test_parameters_that_make_no_sense(wine, parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        BudgetRF(**{"n_estimators": 2, **parameters}).fit(*wine)


def test_rows_that_make_no_sense(wine):
    X, y = wine
    with pytest.raises(ValueError, match="zero"):
        BudgetRF(2).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(InvalidInputError, match="infinity"):
        BudgetRF(2).fit(np.where(X > 1000, np.inf, X), y)
    with pytest.raises(NotFittedError):
        BudgetRF(2).predict(X)
    with pytest.raises(InvalidInputError, match="not fitted"):
        Forest.from_model(BudgetRF(2))


@pytest.mark.parametrize(
    ("wish", "n_looked_at"), [("sqrt", 3), ("log2", 3), (5, 5), (0.5, 6), (1.0, 13), (None, 13)]
)
def test_subsets_of_features(wine, wish, n_looked_at):
    model = BudgetRF(1, max_features=wish)
    model.n_features_in_ = 13
    assert model._criterion(13).max_features == n_looked_at
