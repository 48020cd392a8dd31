"""Selection of the points of a curve that are better than all cheaper ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.model.tradeoff import StagedTradeOff


def best_points(
    found: StagedTradeOff,
    is_candidate: NDArray[np.bool_],
    *,
    by_loss: bool = False,
    in_unit_of_costs: bool = False,
    keeps_full_point: bool = False,
) -> StagedTradeOff:
    """Select the points that are better than all cheaper ones, in order of their cost.

    Parameters
    ----------
    found : StagedTradeOff
    is_candidate : bool array of shape (n_points,)
    by_loss : bool
        Whether points are compared by loss (lower is better) or by score (higher is better).
    in_unit_of_costs : bool
        Whether losses have the unit of the prices. If so, a point is also left out if its total (cost plus
        loss) is not below that of all cheaper points, unless it comes after the point with the lowest total.
    keeps_full_point : bool
        Whether to keep the point at which all rows go to the last stage of the first chain, whatever its
        score is.
    """
    value = -found.loss if by_loss else found.score
    best, kept = -np.inf, []
    for i in np.lexsort((-value, found.cost)).tolist():
        if is_candidate[i] and value[i] > best:
            best = value[i]
            kept.append(i)
    everything = int(np.flatnonzero(found.chain == 0)[-1])
    if keeps_full_point and everything not in kept:
        kept = [i for i in kept if found.cost[i] < found.cost[everything]] + [everything]
    points = np.array(kept, dtype=np.intp)
    if in_unit_of_costs:
        total = (found.cost + found.loss)[points]
        is_better = total < np.minimum.accumulate(np.append(np.inf, total[:-1]))
        points = points[is_better | (np.arange(points.size) > np.argmin(total))]
    return found.take(points)
