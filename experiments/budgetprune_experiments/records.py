"""Curves: undominated points, and mean and spread over seeds.

Records of a curve have the keys "method", "seed", "setting", "val_cost", "val_score", "test_cost",
"test_score" and "seconds_tuning". Larger scores are better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune_experiments.experiment import Record

Floats = NDArray[np.float64]
N_POINTS = 14


def undominated(cost: ArrayLike, score: ArrayLike) -> NDArray[np.intp]:
    """Indices of undominated points, in order of cost: better than all points of equal or lower cost."""
    costs, scores = np.asarray(cost, dtype=np.float64), np.asarray(score, dtype=np.float64)
    order = np.lexsort((-scores, costs))
    best = np.concatenate([[-np.inf], np.maximum.accumulate(scores[order])[:-1]])
    return order[scores[order] > best]


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Mean and standard deviation over seeds, at common costs; deviations are None with a single seed.

    A single point per seed (an unpruned forest, say) is a curve of one point, and has a spread in cost too.
    """

    cost: Floats
    score: Floats
    score_spread: Floats | None
    cost_spread: Floats | None = None

    @property
    def is_point(self) -> bool:
        return self.cost.size == 1

    def at(self, cost: float) -> tuple[float, float | None] | None:
        """Mean and spread of the score at a cost, or None if no model is that cheap."""
        if self.is_point or cost < self.cost[0]:
            return None
        spread = None if self.score_spread is None else float(np.interp(cost, self.cost, self.score_spread))
        return float(np.interp(cost, self.cost, self.score)), spread


def mean_curve(records: Iterable[Record], n_points: int = N_POINTS, *, by_ratio: bool = False) -> MeanCurve:
    """Average the curves of one method over its seeds.

    A seed's curve is linear between two neighbours: a random choice between the two models has that
    cost and that score on average. Beyond the end of a seed's curve, its last model is used.
    Costs begin where every seed has a model. They are closer to each other where they are small
    and curves are steep: their roots, or their logarithms (`by_ratio`), are equally spaced.
    """
    curves = list(seed_curves(records))
    first, last = max(cost[0] for cost, _ in curves), max(cost[-1] for cost, _ in curves)
    if first >= last or all(cost.size == 1 for cost, _ in curves):
        points = np.array([(cost[-1], score[-1]) for cost, score in curves])
        spread = _spread(points)
        return MeanCurve(
            points[:, 0].mean(keepdims=True),
            points[:, 1].mean(keepdims=True),
            None if spread is None else spread[1:],
            None if spread is None else spread[:1],
        )
    if by_ratio:
        at = np.geomspace(first, last, n_points)
    else:
        at = np.linspace(np.sqrt(first), np.sqrt(last), n_points) ** 2
    at[0], at[-1] = first, last  # roots are rounded
    scores = np.array([np.interp(at, cost, score) for cost, score in curves])
    return MeanCurve(at, scores.mean(axis=0), _spread(scores))


def seed_curves(records: Iterable[Record]) -> Iterable[tuple[Floats, Floats]]:
    """Cost and score on test rows of one method, seed by seed, in order of cost.

    A point of cost 0 on test rows, a constant prediction, is left out if there are others.
    """
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for record in records:
        by_seed.setdefault(record["seed"], []).append((record["test_cost"], record["test_score"]))
    for points in by_seed.values():
        bought = [point for point in points if point[0] > 0] or points
        cost, score = np.array(sorted(bought), dtype=np.float64).T
        yield cost, score


def by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records of each method, in the order of each method's first record."""
    grouped: dict[str, list[Record]] = {}
    for record in records:
        grouped.setdefault(record["method"], []).append(record)
    return grouped


def least_cost_for(curve: MeanCurve, score: float) -> float | None:
    """Find the least cost at which a curve reaches a score, or None if it never does."""
    reached = np.flatnonzero(curve.score >= score)
    if not reached.size:
        return None
    k = int(reached[0])
    if k == 0:
        return float(curve.cost[0])
    # The curve rises from below the score to above it, on a straight line.
    low, high = curve.score[k - 1 : k + 1]
    return float(curve.cost[k - 1] + (score - low) / (high - low) * (curve.cost[k] - curve.cost[k - 1]))


def _spread(values: Floats) -> Floats | None:
    return None if len(values) < 2 else values.std(axis=0, ddof=1)
