"""Predictors of several kinds: two classes with categories and a group, a regression, many classes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetPredictor, FeatureCosts, Forest
from budgetprune.service.handlers import Answer
from budgetprune.service.model_description import ModelDescription

GOLDEN = Path(__file__).parents[1] / "golden"
N_FEATURES = 8


def sample() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        400, N_FEATURES, n_informative=6, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    return X.astype(np.float32), y


def many_classes() -> BudgetPredictor:
    """Whole numbers as labels, a scan that four features share, no missing values."""
    X, y = sample()
    model = RandomForestClassifier(15, random_state=0).fit(X[:200], 10 * y[:200])
    prices = {"scan": 3.0, "blood": 2.0, **{f"test {k}": 1.0 + k for k in range(4)}}
    needs = (
        {0: None, 1: "blood"} | {k: ["scan", f"test {k - 2}"] for k in range(2, 6)} | {6: "blood", 7: "scan"}
    )
    return BudgetPredictor(Forest.from_model(model), FeatureCosts.from_sources(prices, needs))


@cache
def predictor(name: str) -> BudgetPredictor:
    if name == "classes":
        return many_classes()
    return BudgetPredictor.load(GOLDEN / f"{name}-1.budgetprune")


NAMES = ("averaged", "boosted", "classes")


def rows(name: str, n: int) -> list[dict[str, float]]:
    """Complete rows of `classes`."""
    assert name == "classes"
    X, _ = sample()
    return [{f"x{k}": float(value) for k, value in enumerate(row)} for row in X[200 : 200 + n]]


def as_answer(predictor: BudgetPredictor, decision) -> Answer:
    """What the service should say about a decision of a classifier that is final."""
    texts = ModelDescription(predictor).class_names
    by_class = {
        field: dict(zip(texts, getattr(decision, field).tolist(), strict=True))
        for field in ("probabilities", "lower", "upper")
    }
    return by_class | {
        "decided": decision.decided,
        "reason": decision.reason,
        "label": decision.label.item(),
        "cost": decision.cost,
        "acquired": list(decision.acquired),
        "next": None,
        "next_cost": None,
        "next_features": [],
    }
