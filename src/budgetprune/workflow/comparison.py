"""Scores and costs of models on the same rows, for `Compared`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.model import Figures, Quality

# A note is given about a model that costs less than this share of the budget.
WELL_SPENT = 0.7


def figures(
    forest: Forest,
    cost: NDArray[np.float64],
    score: float | None,
    *,
    decided_cost: float | None = None,
    loss: float | None = None,
    quality: Quality | None = None,
) -> Figures:
    """Return the figures of a model.

    Parameters
    ----------
    forest : trees of the model
    cost : of each row
    score : of its predictions
    decided_cost, loss, quality : see `Figures`
    """
    return Figures(
        cost=float(np.mean(cost)),
        decided_cost=decided_cost,
        score=score,
        n_features=forest.used_features.size,
        n_splits=forest.n_splits,
        loss=loss,
        quality=quality,
    )


def rounded_up(cost: float) -> str:
    """Format a cost with four digits, rounded up."""
    if cost <= 0:
        return "0"
    digits = 10.0 ** (3 - np.floor(np.log10(cost)))
    return f"{np.ceil(cost * digits - 1e-6) / digits:.6g}"
