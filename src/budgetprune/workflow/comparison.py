"""Scores and costs of models on the same rows, for `Compared`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.model import Figures

# A note is given about a model that costs less than this share of the budget.
WELL_SPENT = 0.7


def score_predictions(predictions: NDArray[Any], truth: NDArray[Any], *, is_classifier: bool) -> float | None:
    """Return accuracy or R²; None for the R² of a single row."""
    if is_classifier:
        return float(np.mean(predictions == truth))
    from sklearn.metrics import r2_score  # takes a second, which other budgets of a model do not need

    return float(r2_score(truth, predictions)) if len(truth) > 1 else None


def figures(
    forest: Forest,
    cost: NDArray[np.float64],
    score: float | None,
    *,
    decided_cost: float | None = None,
    loss: float | None = None,
) -> Figures:
    """Return the figures of a model.

    Parameters
    ----------
    forest : trees of the model
    cost : of each row
    score : accuracy or R²
    decided_cost, loss : see `Figures`
    """
    return Figures(
        cost=float(np.mean(cost)),
        decided_cost=decided_cost,
        score=score,
        n_features=forest.used_features.size,
        n_splits=forest.n_splits,
        loss=loss,
    )


def rounded_up(cost: float) -> str:
    """Format a cost with four digits, rounded up."""
    if cost <= 0:
        return "0"
    digits = 10.0 ** (3 - np.floor(np.log10(cost)))
    return f"{np.ceil(cost * digits - 1e-6) / digits:.6g}"
