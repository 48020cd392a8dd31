"""Importances: those of scikit-learn for unpruned forests, and 0 where no split remains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from budgetprune import (
    BudgetClassifier,
    BudgetPruneClassifier,
    BudgetRegressor,
    BudgetWarning,
    Forest,
    InvalidInputError,
)
from budgetprune.forest import as_shares, explained_variances

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (RandomForestClassifier(5, max_depth=4, random_state=0), IRIS),
        (ExtraTreesRegressor(5, max_depth=5, random_state=0), DIABETES),
    ],
)
def test_those_of_scikit_learn(model, rows):
    model.fit(*rows)
    expected = sum(each.tree_.compute_feature_importances(normalize=False) for each in model.estimators_)
    found = explained_variances(Forest.from_model(model))
    assert found * model.n_estimators**2 == pytest.approx(expected, rel=1e-9)
    # scikit-learn's forests weigh all trees alike, although some of them explain more.
    assert as_shares(found) == pytest.approx(model.feature_importances_, abs=0.03)


def test_boosted_trees_explain_the_variance_of_their_scores():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=1, max_depth=3, learning_rate=1.0).fit(X, y)
    forest = Forest.from_model(model)
    # One tree that fits means: all of the variance of its predictions is explained.
    assert explained_variances(forest).sum() == pytest.approx(model.predict(X).var())
    expected = model.feature_importances_
    assert as_shares(explained_variances(forest)) == pytest.approx(expected)


def test_only_splits_that_remain_count():
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(8, random_state=0).fit(X[::2], y[::2])
    pruned = BudgetPruneClassifier(FrozenEstimator(model), budget=6, refit="squared", random_state=0)
    found = pruned.fit(X[1::2], y[1::2]).feature_importances_
    used = np.isin(np.arange(30), pruned.forest_.used_features)
    assert not used.all()
    assert np.array_equal(found > 0, used)
    assert found.sum() == pytest.approx(1)
    with pytest.warns(BudgetWarning, match="buys nothing"):
        nothing = pruned.with_budget(0.0)
    assert not nothing.feature_importances_.any()


@pytest.mark.parametrize("kind", ["pruned", "staged"])
def test_importances_of_raw_columns(kind):
    """The columns of a category are one feature; a component of both numbers counts half for each."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": rng.choice(["a", "b", "c"], 300), "u": rng.normal(size=300)})
    X["v"] = rng.normal(size=300)
    y = (X["town"] == "a") + X["u"] - X["v"] > 0.3
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), (PCA(1, random_state=0), ["u", "v"]))
    if kind == "pruned":
        pipeline = make_pipeline(encoder, RandomForestClassifier(3, random_state=0))
        model = BudgetPruneClassifier(pipeline, random_state=0).fit(X, y)
        encoded = as_shares(explained_variances(model.forest_))
    else:
        model = BudgetClassifier(preprocessing=encoder, learner="hist", cv=2, time_limit=0, random_state=0)
        encoded = as_shares(model.fit(X, y).model_.explained_variances())
    town, component = encoded[:3].sum(), encoded[3]
    assert town > 0
    assert component > 0
    assert model.feature_importances_ == pytest.approx([town, component / 2, component / 2])


def test_weights_are_needed():
    forest = Forest.from_model(RandomForestClassifier(2, random_state=0).fit(*IRIS))
    without = replace(forest, weight=np.zeros(forest.n_nodes), class_weight=None)
    with pytest.raises(InvalidInputError, match=r"records no training weights, .* forest\.with_weights_of"):
        explained_variances(without)
    assert explained_variances(without.with_weights_of(IRIS[0])).sum() > 0


def test_staged_models_count_what_rows_acquire():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = 2 * X[:, 0] + X[:, 1]
    model = BudgetRegressor([1, 4, 1], learner="hist", cv=2, time_limit=0, random_state=0).fit(X, y)
    full = model.feature_importances_
    assert full.sum() == pytest.approx(1)
    assert full.argmax() == 0
    cheap = model.with_budget(1.0)
    assert cheap.stages_[-1].cost <= 1
    assert cheap.feature_importances_ == pytest.approx([1, 0, 0])
    assert not model.with_budget(0.0).feature_importances_.any()
