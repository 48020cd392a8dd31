"""Staged models that several tests look at; they are fitted once."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from budgetprune import FeatureCosts
from budgetprune.staged import BudgetClassifier, BudgetRegressor

from ..solvers.conftest import one_thread

__all__ = ["one_thread"]

N_ROWS = 500


def patients(seed: int, n_rows: int = N_ROWS) -> pd.DataFrame:
    """Rows with a free column, cheap ones, categories, missing values, and two tests of one blood draw."""
    rng = np.random.default_rng(seed)
    health = rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "age": 50 + 10 * rng.normal(size=n_rows) - 4 * health,
            "pulse": 70 - 6 * health + 8 * rng.normal(size=n_rows),
            "town": pd.Categorical(rng.choice(["Aix", "Bonn", "Caen"], n_rows)),
            "pressure": health + 0.8 * rng.normal(size=n_rows),
            "iron": health + 0.5 * rng.normal(size=n_rows),
            "marker": health + 0.3 * rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "pulse"] = np.nan
    frame["health"] = health + 0.2 * (frame["town"] == "Bonn")
    return frame


COSTS = FeatureCosts(
    {"age": 0, "pulse": 1, "town": 1, "pressure": 2, "iron": 3, "marker": 6, "noise": 2},
    groups={"iron": "blood draw", "marker": "blood draw"},
    group_costs={"blood draw": 4},
)
X_TRAIN, X_TEST = patients(0), patients(1, 300)
Y_TRAIN, Y_TEST = X_TRAIN.pop("health"), X_TEST.pop("health")


def grade(y: pd.Series) -> np.ndarray:
    return np.array(["ill", "unsure", "well"])[np.digitize(y, [-0.6, 0.6])]


MODELS = {
    "two classes": lambda: BudgetClassifier(COSTS, random_state=0).fit(X_TRAIN, Y_TRAIN > 0),
    "three classes": lambda: BudgetClassifier(COSTS, random_state=0).fit(X_TRAIN, grade(Y_TRAIN)),
    "error costs": lambda: BudgetClassifier(
        COSTS, error_costs={"ill": 60, "unsure": 20, "well": 10}, random_state=0
    ).fit(X_TRAIN, grade(Y_TRAIN)),
    "probabilities": lambda: BudgetClassifier(COSTS, scoring="neg_log_loss", random_state=0).fit(
        X_TRAIN, Y_TRAIN > 0
    ),
    "regression": lambda: BudgetRegressor(COSTS, random_state=0).fit(X_TRAIN, Y_TRAIN),
    "without LightGBM": lambda: BudgetClassifier(COSTS, learner="hist", random_state=0).fit(
        X_TRAIN, Y_TRAIN > 0
    ),
}
_FITTED: dict[str, BudgetClassifier | BudgetRegressor] = {}


def fitted(name: str) -> BudgetClassifier | BudgetRegressor:
    """Fit a model of `MODELS` once for all tests, which do not change it."""
    if name not in _FITTED:
        _FITTED[name] = MODELS[name]()
    return _FITTED[name]


@pytest.fixture(params=MODELS)
def model(request):
    """A fitted model of each kind, with no limit."""
    return fitted(request.param)


@pytest.fixture
def classifier():
    """A fitted classifier of two classes."""
    return fitted("two classes")


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """A clock that tests advance."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now
