"""What rivals made of trees share: prices, names, frozen ensembles, and curves of prunings."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier

from budgetprune import FeatureCosts, Forest, InvalidInputError, PruningProblem, UnsupportedModelError
from budgetprune.baselines import (
    CCP,
    GreedyPrune,
    PlainForest,
    PruningCurve,
    ccp_curve,
    depth_curve,
    greedy_curve,
)


@pytest.fixture(scope="module")
def rows():
    return load_wine(return_X_y=True, as_frame=True)


def test_costs_are_those_of_all_features_on_the_way(rows):
    X, y = rows
    prices = dict(zip(X.columns, np.arange(1.0, 14.0), strict=True))
    fitted = PlainForest(RandomForestClassifier(4), costs=prices, random_state=0).fit(X, y)
    theirs = fitted.estimator_
    assert theirs.random_state is not None
    np.testing.assert_allclose(fitted.predict_proba(X), theirs.predict_proba(X))
    assert fitted.score(X, y) == theirs.score(X, y)
    used = np.zeros(X.shape, dtype=bool)
    for tree in theirs.estimators_:
        way = tree.decision_path(X.to_numpy(dtype=np.float32)).toarray().astype(bool)
        for k in range(X.shape[1]):
            used[:, k] |= way[:, tree.tree_.feature == k].any(axis=1)
    np.testing.assert_allclose(fitted.acquisition_cost(X), used @ np.arange(1.0, 14.0))


def test_a_forest_of_little_depth_costs_less(rows):
    costs = [
        PlainForest(RandomForestClassifier(4, max_depth=depth, random_state=0))
        .fit(*rows)
        .acquisition_cost(rows[0])
        .mean()
        for depth in (1, 2, None)
    ]
    assert costs == sorted(set(costs))


def test_cutting_levels_off_is_what_a_limit_on_the_depth_does():
    # Enough rows that no two splits are equally good.
    X, y = make_classification(2000, 6, n_informative=5, n_redundant=0, random_state=0)
    whole = RandomForestClassifier(3, max_features=None, random_state=0).fit(X, y)
    curve = depth_curve(Forest.from_model(whole))
    deepest = max(tree.get_depth() for tree in whole.estimators_)
    assert len(curve) == deepest + 1
    for depth in (0, 1, 2, 4):
        upper = curve.forest(deepest - depth)
        assert upper.depth.max() == depth
        if depth:
            theirs = RandomForestClassifier(3, max_features=None, max_depth=depth, random_state=0).fit(X, y)
            np.testing.assert_allclose(upper.predict_proba(X), theirs.predict_proba(X))
    assert curve.n_splits[0] == curve.unpruned.n_splits
    assert curve.n_splits[-1] == 0


@pytest.mark.parametrize("rival", [PlainForest, CCP, GreedyPrune])
def test_rows_that_do_not_fit_are_refused_before_anything_is_done(rows, rival):
    X, y = rows
    frozen = FrozenEstimator(RandomForestClassifier(2, random_state=0).fit(X.to_numpy()[:, :3], y))
    with pytest.raises(InvalidInputError, match="13 features, but the frozen estimator learned 3"):
        rival(frozen).fit(X.to_numpy(), y)
    with pytest.raises(InvalidInputError, match="requires y"):
        rival(frozen).fit(X.to_numpy()[:, :3], None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rival(frozen).fit(X.to_numpy()[:, :3], y[:-1])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        rival(RandomForestClassifier(2)).fit(X, y, -np.ones(len(y)))


def test_what_is_no_forest_is_told_how_to_become_one(rows):
    model = RandomForestClassifier(2, random_state=0).fit(*rows)
    for curve in (ccp_curve, depth_curve):
        with pytest.raises(InvalidInputError, match=r"write Forest.from_model\(model\)"):
            curve(model)
    with pytest.raises(InvalidInputError, match=r"use PruningProblem\(forest, X\)"):
        greedy_curve(Forest.from_model(model))
    with pytest.raises(InvalidInputError, match="until must have one entry"):
        PruningCurve(Forest.from_model(model), [0, 1], np.zeros(3))
    with pytest.raises(InvalidInputError, match="X_cost has 2 features, but X has 13"):
        GreedyPrune(RandomForestClassifier(2)).fit(*rows, X_cost=rows[0].to_numpy()[:, :2])


def test_frozen_ensembles_are_not_trained_again(rows):
    X, y = rows
    theirs = RandomForestClassifier(3, random_state=0).fit(X, y)
    fitted = PlainForest(FrozenEstimator(theirs)).fit(X[:20], y[:20])
    assert fitted.estimator_ is theirs
    assert Forest.from_model(fitted) is fitted.forest_
    # It knows its features in another order than this.
    reversed_columns = X[X.columns[::-1]]
    with pytest.raises(InvalidInputError, match="in another order"):
        PlainForest(FrozenEstimator(theirs)).fit(reversed_columns, y).predict(reversed_columns)


def test_classifiers_and_regressors_are_what_is_inside(rows):
    X, y = load_diabetes(return_X_y=True)
    regressor = PlainForest(RandomForestRegressor(3, random_state=0)).fit(X, y)
    assert is_regressor(regressor)
    assert not hasattr(regressor, "predict_proba")
    assert not hasattr(regressor, "classes_")
    assert regressor.score(X, y) == pytest.approx(regressor.estimator_.score(X, y))
    classifier = PlainForest()
    assert is_classifier(classifier)
    assert hasattr(classifier, "predict_proba")


def test_copies_and_pickles(rows):
    fitted = PlainForest(RandomForestClassifier(3), costs=FeatureCosts(2.0), random_state=1).fit(*rows)
    again = clone(fitted).fit(*rows)
    loaded = pickle.loads(pickle.dumps(fitted))
    for other in (again, loaded):
        np.testing.assert_array_equal(other.predict_proba(rows[0]), fitted.predict_proba(rows[0]))
        np.testing.assert_array_equal(other.acquisition_cost(rows[0]), fitted.acquisition_cost(rows[0]))


def test_prices_are_those_of_the_fit(rows):
    fitted = PlainForest(RandomForestClassifier(3), costs=1.0, random_state=1).fit(*rows)
    before = fitted.acquisition_cost(rows[0])
    np.testing.assert_array_equal(fitted.set_params(costs=5.0).acquisition_cost(rows[0]), before)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KNeighborsClassifier(), "cannot turn a sklearn.KNeighborsClassifier"),
        (RandomForestClassifier, "must be a model with a fit method"),
        (3, "must be a model with a fit method, not int"),
    ],
)
def test_what_is_no_forest_is_refused(rows, estimator, message):
    wrong = PlainForest(estimator)
    assert not is_regressor(wrong)
    with pytest.raises(UnsupportedModelError, match=message):
        wrong.fit(*rows)


def test_curves_are_checked(rows):
    X, y = rows
    forest = Forest.from_model(RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y))
    whole = forest.is_split.astype(int)
    one = PruningCurve(forest, [0.0], whole)
    assert len(one) == 1
    assert (
        repr(one)
        == f"PruningCurve(1 points, parameter 0 to 0: {forest.n_splits} to {forest.n_splits} splits)"
    )
    assert one.at(7.0) == 0
    np.testing.assert_array_equal(one.keep(-1), forest.is_split)
    with pytest.raises(IndexError):
        one.forest(1)
    for parameter, until, message in (
        ([1.0], whole, "must increase from 0"),
        ([0.0, 0.0], whole, "must increase from 0"),
        ([0.0], 0 * whole, "at least 1 at splits"),
        ([0.0, 1.0], whole + (np.arange(whole.size) == np.flatnonzero(whole)[-1]), "than at its parent"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            PruningCurve(forest, parameter, until)
    with pytest.raises(InvalidInputError, match="another forest"):
        one.trade_off(PruningProblem(ccp_curve(forest).forest(0), pd.DataFrame(X)))


def test_rivals_need_no_extra():
    code = """
import sys
for extra in ("pandas", "lightgbm", "matplotlib", "typer"):
    sys.modules[extra] = None  # importing it fails now
import budgetprune.baselines
"""
    subprocess.run([sys.executable, "-c", code], check=True)
