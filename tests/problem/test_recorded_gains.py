"""Gains that libraries record, against those that we measure on their training rows; what both are for."""

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from budgetprune import Forest, PruningProblem
from budgetprune.losses import find_loss
from budgetprune.problem.boosting import recompute

N_TRAIN = 300
LIGHT = {"n_estimators": 8, "num_leaves": 7, "n_jobs": 1, "verbose": -1}
EXTREME = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}
HIST = {"max_iter": 8, "max_leaf_nodes": 7}
SLOW = {"n_estimators": 8, "max_depth": 3, "random_state": 0}

MODELS = {
    "LightGBM, two classes": lightgbm.LGBMClassifier(**LIGHT),
    "LightGBM, three classes": lightgbm.LGBMClassifier(**LIGHT, reg_lambda=3.0),
    "LightGBM, regression": lightgbm.LGBMRegressor(**LIGHT),
    "LightGBM, counts": lightgbm.LGBMRegressor(**LIGHT, objective="poisson"),
    "XGBoost, two classes": xgboost.XGBClassifier(**EXTREME),
    "XGBoost, three classes": xgboost.XGBClassifier(**EXTREME, reg_lambda=0.0),
    "XGBoost, regression": xgboost.XGBRegressor(**EXTREME),
    "HistGradientBoosting, two classes": HistGradientBoostingClassifier(**HIST),
    "HistGradientBoosting, counts": HistGradientBoostingRegressor(**HIST, loss="poisson"),
    "GradientBoosting, regression": GradientBoostingRegressor(**SLOW),
}
WITHOUT_RECORDS = {
    "GradientBoosting, two classes": GradientBoostingClassifier(**SLOW),
    "GradientBoosting, three classes": GradientBoostingClassifier(**SLOW),
    "XGBoost, counts": xgboost.XGBRegressor(**EXTREME, objective="count:poisson"),
}


def draw(name):
    """Rows, and targets of the kind that the name ends with."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_TRAIN + 150, 5)).astype(np.float32)
    score = X @ [1.0, 2.0, -1.0, 0.5, 0.0] + rng.normal(size=len(X))
    targets = {
        "two classes": (score > 0).astype(int),
        "three classes": np.searchsorted([-1, 1], score),
        "regression": score,
        "counts": rng.poisson(np.exp(score / 4)),
    }
    return X, targets[name.split(", ")[1]]


@pytest.mark.parametrize("name", MODELS)
def test_recorded_gains_are_the_measured_ones(name):
    X, y = draw(name)
    forest = Forest.from_model(MODELS[name].fit(X[:N_TRAIN], y[:N_TRAIN]))
    again = recompute(forest, X[:N_TRAIN], y[:N_TRAIN], inner_values=False)
    # Libraries write gains down in single precision, or with some digits.
    np.testing.assert_allclose(forest.split_gain, again.split_gain, atol=1e-5 * again.split_gain.max())


@pytest.mark.parametrize("name", WITHOUT_RECORDS)
def test_gains_that_are_not_recorded_can_be_measured(name):
    X, y = draw(name)
    forest = Forest.from_model(WITHOUT_RECORDS[name].fit(X[:N_TRAIN], y[:N_TRAIN]))
    assert forest.split_gain is None
    again = recompute(forest, X[:N_TRAIN], y[:N_TRAIN])
    problem = PruningProblem(again, X[N_TRAIN:])
    assert problem.gain.sum() > 0
    assert problem.path(certify=True).gap.max() <= 1e-9


@pytest.mark.parametrize("name", ["LightGBM, two classes", "XGBoost, regression"])
@pytest.mark.parametrize("error", ["in-bag", "held-out", "pooled"])
def test_the_path_trades_cost_for_loss(name, error):
    X, y = draw(name)
    forest = Forest.from_model(MODELS[name].fit(X[:N_TRAIN], y[:N_TRAIN]))
    problem = PruningProblem(
        forest, X[N_TRAIN:], y[N_TRAIN:], error=error, X_train=X[:N_TRAIN], y_train=y[:N_TRAIN]
    )
    path = problem.path(certify=True)
    assert path.gap.max() <= 1e-9
    assert len(path) > 2
    target = np.searchsorted(forest.classes, y) if forest.is_classifier else y
    loss = [find_loss(forest.loss).value(point.forest.scores(X), target).mean() for point in path]
    # Errors are of second order, and later trees take no notice; but their order is right.
    assert np.corrcoef(loss, path.error)[0, 1] > 0.95
    assert loss[0] < loss[-1]
