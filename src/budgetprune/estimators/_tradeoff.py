"""`TradeOff`: what each budget would buy, as seen by rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.estimators._workshop import Fold, Measure, Repair
from budgetprune.path import PruningPath

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 200
# A refit takes time. What it gains changes slowly along the path, so it is measured at a few points.
N_REFITS = 3


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """Points of a path, evenly spaced in cost, from expensive to cheap.

    Attributes
    ----------
    lam, cost : float64 arrays of shape (n_points,)
        Of the points of `path_`; costs are full costs.
    score : float64 array of shape (n_points,)
        Cross-fitted: each half of the validation rows judged what the other half (and training rows) made
        for that cost. If the estimator's leaves are refitted, so are these at a few of the points; between
        them, what that gains is interpolated. The best of many scores is a little too good: judge the point
        that you choose by rows of its own.
    is_refitted : bool array of shape (n_points,)
        Where leaves were refitted, and nothing is interpolated.
    """

    lam: NDArray[np.float64]
    cost: NDArray[np.float64]
    score: NDArray[np.float64]
    is_refitted: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.lam.size

    def __repr__(self) -> str:
        return f"TradeOff({len(self)} points, cost {self.cost[0]:.4g} to {self.cost[-1]:.4g})"

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        return pd.DataFrame(
            {"lam": self.lam, "cost": self.cost, "score": self.score, "refitted": self.is_refitted}
        )

    @property
    def best(self) -> int:
        """Number of the point with the best score; of equals, the cheapest. Without scores, the first."""
        if np.isnan(self.score).all():
            return 0
        return len(self) - 1 - int(np.nanargmax(self.score[::-1]))


def trade_off(
    path: PruningPath, folds: Sequence[Fold], measure: Measure, repair: Repair, verbose: bool
) -> TradeOff:
    """Score points of a path by cross-fitting."""
    points = evenly_spaced(path.cost, MOST_POINTS)
    cost = path.cost[points]
    is_refitted = np.zeros(points.size, dtype=np.bool_)
    if not folds:
        return TradeOff(path.lam[points], cost, np.full(points.size, np.nan), is_refitted)
    score = np.mean([fold.scores_for(measure, cost) for fold in folds], axis=0)
    if repair.kind is not None:
        some = evenly_spaced(cost, N_REFITS)
        is_refitted[some] = True
        bar = tqdm(cost[some], desc="scoring the path", disable=not verbose)
        reached = [
            np.mean([fold.score(measure, repair, each, fold.path(measure)) for fold in folds]) for each in bar
        ]
        gained = np.array(reached) - score[some]
        # No point is said to be better than the best that was seen.
        best = max(*reached, *score)
        score = np.minimum(score + np.interp(cost, cost[some][::-1], gained[::-1]), best)
    return TradeOff(path.lam[points], cost, score, is_refitted)


def evenly_spaced(cost: NDArray[np.float64], n_points: int) -> NDArray[np.intp]:
    """Choose at most `n_points` of descending costs, as evenly spaced as they allow; both ends belong."""
    wanted = np.linspace(cost[0], cost[-1], n_points)
    return np.unique(np.abs(cost[:, np.newaxis] - wanted).argmin(axis=0))
