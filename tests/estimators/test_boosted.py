"""Boosted ensembles of all libraries: pruned for a budget, refitted by their own loss, and sent back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from xgboost import XGBClassifier, XGBRegressor, XGBRFClassifier

from budgetprune import InvalidInputError, UnsupportedModelError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor

from .rows import draw, draw_targets

LIGHT = {"n_estimators": 8, "num_leaves": 8, "verbose": -1, "n_jobs": 1, "random_state": 0}
XGB = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "random_state": 0}
GB = {"n_estimators": 8, "random_state": 0}
HIST = {"max_iter": 8, "max_leaf_nodes": 8, "random_state": 0}

# Model, number of classes (0: numbers), and what the leaves are refitted by.
CASES = {
    "LightGBM, two classes": (LGBMClassifier(**LIGHT), 2, "own"),
    "LightGBM, three classes": (LGBMClassifier(**LIGHT), 3, "own"),
    "LightGBM, numbers": (LGBMRegressor(**LIGHT), 0, "own"),
    "LightGBM, Poisson": (LGBMRegressor(objective="poisson", **LIGHT), 0, "own"),
    "XGBoost, two classes": (XGBClassifier(**XGB), 2, "own"),
    "XGBoost, three classes": (XGBClassifier(**XGB), 3, "own"),
    "XGBoost, numbers": (XGBRegressor(**XGB), 0, "own"),
    "LightGBM, a loss that we do not know": (LGBMRegressor(objective="huber", **LIGHT), 0, None),
    "XGBoost, random forest": (XGBRFClassifier(**XGB), 2, "auto"),
    "histograms, two classes": (HistGradientBoostingClassifier(**HIST), 2, "own"),
    "histograms, three classes": (HistGradientBoostingClassifier(**HIST), 3, "own"),
    "histograms, numbers": (HistGradientBoostingRegressor(**HIST), 0, "own"),
    "gradient boosting, two classes": (GradientBoostingClassifier(**GB), 2, "own"),
    "gradient boosting, three classes": (GradientBoostingClassifier(**GB), 3, "own"),
    "gradient boosting, numbers": (GradientBoostingRegressor(**GB), 0, "own"),
}


def rows_for(n_classes, n_rows=400, seed=0):
    return draw(n_rows, n_classes, seed) if n_classes else draw_targets(n_rows, seed)


def raw_scores(model, X):
    """Scores of a model that came back, before the link where it can say so."""
    if isinstance(model, xgboost.Booster):
        return model.predict(xgboost.DMatrix(X), output_margin=True)
    if type(model).__module__.startswith("lightgbm"):
        return model.predict(X, raw_score=True)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def way_back(pruned):
    library = type(pruned.estimator_).__module__.partition(".")[0]
    if library == "sklearn":
        return pruned.to_sklearn()
    with pytest.raises(UnsupportedModelError, match=f"convert it back with to_{library}"):
        pruned.to_sklearn()
    return pruned.forest_.to_lightgbm() if library == "lightgbm" else pruned.forest_.to_xgboost()


@pytest.mark.parametrize("name", CASES)
def test_boosted_ensembles_within_a_budget(name):
    model, n_classes, refit = CASES[name]
    X, y = rows_for(n_classes)
    X_val, y_val = rows_for(n_classes, 200, seed=1)
    kind = BudgetPruneClassifier if n_classes else BudgetPruneRegressor
    budget, smaller = (3.0, 1.2) if n_classes else (1.4, 1.05)
    pruned = kind(model, budget=budget, refit=refit, ridge=1.0, random_state=0)
    pruned.fit(X, y, X_val=X_val, y_val=y_val)
    assert pruned.cost_ == pytest.approx(pruned.acquisition_cost(X_val).mean())
    assert 0.5 < pruned.cost_ <= budget < pruned.path_.unpruned.cost
    if refit != "auto":
        assert pruned.refit_ == refit
    assert pruned.choices_.error in ("in-bag", "held-out", "pooled")
    back = way_back(pruned)
    margin = pruned.forest_.scores(X_val)
    if not n_classes:
        margin = np.log(pruned.predict(X_val)) if "Poisson" in name else pruned.predict(X_val)
    assert np.ravel(raw_scores(back, X_val)) == pytest.approx(np.ravel(margin), abs=1e-5)
    # It has not forgotten what it was trained for.
    fewer = pruned.with_budget(smaller)
    assert fewer.cost_ <= smaller
    if n_classes:
        assert pruned.score(X_val, y_val) >= fewer.score(X_val, y_val) - 0.05 > 1.2 / n_classes
        assert pruned.predict_proba(X_val).sum(axis=1) == pytest.approx(np.ones(200))
    else:
        assert pruned.score(X_val, y_val) > 0.3


def test_categories_of_tables():
    """LightGBM splits by category; the same table goes through growing, pruning, refitting and back."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], 400)
    table = pd.DataFrame(
        {"body mass": rng.normal(size=400), "colour": pd.Categorical(colour), "noise": rng.normal(size=400)}
    )
    y = np.where((colour == "red") ^ (table["body mass"] > 0.5), "yes", "no")
    costs = {"body mass": 1.0, "colour": 3.0, "noise": 1.0}
    booster = LGBMClassifier(**LIGHT, min_data_per_group=5, cat_smooth=1.0)
    model = BudgetPruneClassifier(booster, costs=costs, budget=4.0, random_state=0).fit(table, y)
    assert (model.forest_.category_set >= 0).any()
    assert model.source_names_ == ("body mass", "colour", "noise")
    assert model.score(table, y) > 0.9
    used = model.sources_used(table)
    assert used[:, 1].any()
    assert model.acquisition_cost(table) == pytest.approx(used @ [1.0, 3.0, 1.0])
    back = model.forest_.to_lightgbm()
    assert back.predict(table) == pytest.approx(model.predict_proba(table)[:, 1])


def test_gains_are_measured_where_none_are_recorded():
    """GradientBoosting with log loss records none: training rows tell them."""
    X, y = rows_for(2)
    model = BudgetPruneClassifier(GradientBoostingClassifier(**GB), error="in-bag", lam=0.0, random_state=0)
    model.fit(X, y)
    assert model.path_.forest.split_gain is not None
    assert model.path_.forest.split_gain.max() > 0


def test_loss_that_tells_no_gains():
    X, y = rows_for(0)
    model = BudgetPruneRegressor(LGBMRegressor(objective="l1", **LIGHT), lam=0.0)
    with pytest.raises(InvalidInputError, match="Train it on a squared, logistic"):
        model.fit(X, y)
