"""The budget that a cross-fitted curve recommends: its knee."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.summary.common import Recommendation


def recommend(
    cost: NDArray[np.float64],
    score: NDArray[np.float64],
    n_rows: int,
    *,
    is_accuracy: bool,
    has_constant: bool,
) -> tuple[int | None, Recommendation]:
    """Return the knee of a curve of cross-fitted scores; test rows have no part in it.

    The curve ends at the cheapest point whose score is within one standard error of the best: more expensive
    points are not clearly better. The knee is the point farthest above the straight line from the cheapest
    point to that end, so that a unit of cost buys more than the average before it, and less after it. Also
    returns the reason. The index is None if the end is the cheapest point and that is a constant.

    Parameters
    ----------
    cost, score : costs and scores of the points, from cheap to expensive
    n_rows : number of rows that measured the scores
    is_accuracy : whether the score is accuracy, otherwise R²
    has_constant : whether the cheapest point is a constant
    """
    best = int(score.argmax())
    error = standard_error_of_score(float(score[best]), n_rows, is_accuracy=is_accuracy)
    end = int(np.flatnonzero(score >= score[best] - error)[0])
    chosen, is_constant = knee(cost[: end + 1], score[: end + 1]), has_constant and end == 0
    found = Recommendation(
        rule="constant" if is_constant else "knee" if chosen < end else "one standard error",
        point=None,
        cost=float(cost[chosen]),
        score=float(score[chosen]),
        cheapest_cost=float(cost[0]),
        cheapest_score=float(score[0]),
        best_cost=float(cost[best]),
        best_score=float(score[best]),
        standard_error=error,
    )
    return None if is_constant else chosen, found


def knee(cost: NDArray[np.float64], score: NDArray[np.float64]) -> int:
    """Return the point farthest above the line from the first to the last point; the last one if none is."""
    width = cost[-1] - cost[0]
    if not width > 0:
        return cost.size - 1
    above = score - score[0] - (score[-1] - score[0]) * (cost - cost[0]) / width
    farthest = int(above.argmax())
    return farthest if above[farthest] > 1e-12 else cost.size - 1


def standard_error_of_score(score: float, n_rows: int, *, is_accuracy: bool) -> float:
    """Return the standard error of an accuracy, or of R² (for many rows and normal errors)."""
    bounded = min(max(score, 0.0), 1.0)
    variance = bounded * (1 - bounded) if is_accuracy else 4 * bounded * (1 - bounded) ** 2
    return float(np.sqrt(variance / max(n_rows, 1)))
