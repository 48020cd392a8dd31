"""Rows for budgets of decided cost, and what must hold for every estimator that has one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune.estimators import BudgetPruneClassifier
from budgetprune.problem.acquisition import sources_used

N_FEATURES = 8
FIXED = {"error": "in-bag", "loss": "misclassification", "refit": None, "random_state": 0}


def draw(n_rows=400, n_classes=2, seed=0):
    """Every feature tells something, each less than the one before, so that paths have many points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    score = X @ [2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.4, 0.2] + rng.normal(size=n_rows) / 2
    return X, np.digitize(score, [[], [0.0], [-1.5, 1.5]][n_classes - 1]) if n_classes else score


def forest(**parameters):
    return RandomForestClassifier(
        10, **{"max_depth": 6, "max_features": 0.5, "random_state": 0, **parameters}
    )


TRAIN, VAL = draw(), draw(300, seed=1)
TEST = draw(500, seed=2)


def fitted(kind=BudgetPruneClassifier, rows=TRAIN, val=VAL, **parameters):
    fixed = FIXED if kind is BudgetPruneClassifier else {**FIXED, "loss": None}
    model = kind(**{"estimator": forest(), "counting": "decided", **fixed, **parameters})
    return model.fit(*rows, X_val=val[0], y_val=val[1])


def full_cost(model, X):
    return model._prices.total(sources_used(model.forest_, model._prices, X))


def check_budget(model, X_val, budget, weight=None):
    """What validation rows acquire is within the budget, and no row pays more than its full cost."""
    simulation = model.predictor().simulate(X_val)
    assert np.array_equal(model.acquisition_cost(X_val), simulation.cost)
    assert np.array_equal(model.sources_used(X_val), simulation.acquired)
    assert model.cost_ == pytest.approx(np.average(simulation.cost, weights=weight))
    assert model.cost_ <= budget * (1 + 1e-8)
    assert np.all(simulation.cost <= full_cost(model, X_val) + 1e-9)
