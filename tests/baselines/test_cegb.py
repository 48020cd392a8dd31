"""CEGB: what LightGBM is told, and that its trees become a forest with prices."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPruneClassifier, FeatureCosts, Forest, InvalidInputError
from budgetprune.baselines import CEGBClassifier, CEGBRegressor


@pytest.fixture(scope="module")
def rows():
    return load_breast_cancer(return_X_y=True)


SMALL = {"n_estimators": 10, "num_leaves": 7, "random_state": 0, "n_jobs": 1}


@pytest.mark.parametrize("penalty", ["lazy", "coupled"])
def test_lightgbm_gets_the_prices_and_its_trees_come_back(rows, penalty):
    X, y = rows
    prices = np.arange(30.0)
    ours = CEGBClassifier(penalty, tradeoff=0.01, costs=prices, **SMALL).fit(X, y)
    option = {f"cegb_penalty_feature_{penalty}": prices.tolist()}
    theirs = LGBMClassifier(verbose=-1, cegb_tradeoff=0.01, **option, **SMALL).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    used = np.flatnonzero(theirs.feature_importances_)
    cost = ours.acquisition_cost(X)
    assert 0 < cost.mean() <= prices[used].sum()


@pytest.mark.parametrize("penalty", ["lazy", "coupled"])
def test_a_larger_tradeoff_costs_less(rows, penalty):
    X, y = rows
    costs = [
        CEGBClassifier(penalty, tradeoff=tradeoff, **SMALL).fit(X, y).acquisition_cost(X).mean()
        for tradeoff in (0.0, 0.03, 1.0, 1e4)
    ]
    assert costs[0] > costs[1] > costs[2] >= costs[3] == 0


def test_without_a_tradeoff_it_is_plain_lightgbm(rows):
    X, y = rows
    ours = CEGBClassifier(tradeoff=0.0, **SMALL).fit(X, y)
    theirs = LGBMClassifier(verbose=-1, **SMALL).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_several_classes_with_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = dict(zip(X.columns, [1, 1, 5, 5], strict=True))
    fitted = CEGBClassifier(tradeoff=0.001, costs=costs, **SMALL).fit(X, names)
    assert fitted.score(X, names) > 0.9
    assert fitted.forest_.feature_names == tuple(X.columns)
    np.testing.assert_allclose(fitted.predict_proba(X), fitted.estimator_.predict_proba(X))
    assert set(np.unique(fitted.acquisition_cost(X))) <= {0, 1, 2, 5, 6, 7, 10, 11, 12}


def test_shared_sources_are_charged_in_full_and_paid_once(rows):
    X, y = rows
    shared = FeatureCosts.from_sources(dict.fromkeys(range(10), 2.0), {k: k % 10 for k in range(30)})
    ours = CEGBClassifier(tradeoff=0.01, costs=shared, **SMALL).fit(X, y)
    alone = CEGBClassifier(tradeoff=0.01, costs=2.0, **SMALL).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), alone.predict_proba(X))
    assert np.all(ours.acquisition_cost(X) <= alone.acquisition_cost(X))
    assert ours.acquisition_cost(X).mean() < alone.acquisition_cost(X).mean()


def test_numbers_are_predicted_too():
    X, y = load_diabetes(return_X_y=True)
    costs = []
    for tradeoff in (0.0, 300.0):  # squared errors are in the thousands
        fitted = CEGBRegressor(tradeoff=tradeoff, **SMALL).fit(X, y)
        np.testing.assert_allclose(fitted.predict(X), fitted.estimator_.predict(X))
        costs.append(fitted.acquisition_cost(X).mean())
    assert costs[0] > costs[1] > 0


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_first_rounds_are_what_a_shorter_training_gives(load):
    X, y = load(return_X_y=True)
    longer = CEGBClassifier(tradeoff=0.01, **SMALL).fit(X, y)
    shorter = longer.first_rounds(4)
    other = CEGBClassifier(tradeoff=0.01, **SMALL | {"n_estimators": 4}).fit(X, y)
    np.testing.assert_allclose(shorter.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(shorter.acquisition_cost(X), other.acquisition_cost(X))
    assert (shorter.n_estimators, longer.n_estimators) == (4, 10)
    assert longer.first_rounds(10).forest_ is longer.forest_
    for wrong in (0, 11):
        with pytest.raises(InvalidInputError, match="n_rounds must be a whole number from 1 to 10"):
            longer.first_rounds(wrong)


def test_its_trees_can_be_pruned_by_us(rows):
    X, y = rows
    fitted = CEGBClassifier(tradeoff=0.001, **SMALL).fit(X[:300], y[:300])
    assert Forest.from_model(fitted).n_splits == fitted.forest_.n_splits
    pruned = BudgetPruneClassifier(FrozenEstimator(fitted), budget=2.0, error="held-out", refit=None)
    pruned.fit(X[300:], y[300:])
    assert 0 < pruned.forest_.n_splits < fitted.forest_.n_splits


def test_missing_values_and_categories_are_lightgbms_own(rows):
    X, y = rows
    table = pd.DataFrame(X[:, :3], columns=["a b", "c", "d"])
    table.loc[::7, "c"] = np.nan
    table["kind"] = pd.Categorical(np.where(y == 1, "x", "z"))
    fitted = CEGBClassifier(tradeoff=0.0, **SMALL).fit(table, y)
    np.testing.assert_allclose(fitted.predict_proba(table), fitted.estimator_.predict_proba(table))
    assert fitted.score(table, y) == 1
    assert fitted.acquisition_cost(table).mean() >= 1


def test_without_lightgbm_the_extra_is_named(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"CEGBClassifier needs LightGBM: .*budgetprune\[lightgbm\]"):
        CEGBClassifier().fit(*rows)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"penalty": "eager"}, "penalty='eager' is unknown"),
        ({"tradeoff": -1.0}, "tradeoff must be"),
        ({"costs": [1.0]}, "costs has 1 entries"),
        ({"n_estimators": "a"}, "n_estimators must be a whole number of at least 1, not 'a'"),
        ({"num_leaves": 1}, "num_leaves must be a whole number of at least 2"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"min_child_weight": -1}, "min_child_weight"),
    ],
)
def test_wrong_settings_are_refused(rows, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        CEGBClassifier(**wrong).fit(*rows)


def test_infinities_are_refused_before_training(rows):
    X, y = np.array(rows[0], dtype=float), rows[1]
    X[3, 1] = np.inf
    for given in (X, pd.DataFrame(X).add_prefix("x").assign(colour="red").astype({"colour": "category"})):
        with pytest.raises(ValueError, match="infinity"):
            CEGBClassifier().fit(given, y)
