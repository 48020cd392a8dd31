"""`TradeOff`: what each budget would buy, as seen by rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.path import PruningPath
from budgetprune.path.decided import DecidedCosts
from budgetprune.selection.context import Fold, Measure, Repair
from budgetprune.selection.stopping import Stopping

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 200
# A refit takes time. What it gains changes slowly along the path, so it is measured at a few points.
N_REFITS = 3
# So do simulations. Decided costs are nearly straight lines between these points.
N_SIMULATED = 9


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """Points of a path, evenly spaced in cost, from expensive to cheap.

    Attributes
    ----------
    lam, full_cost : float64 arrays of shape (n_points,)
        Of the points of `path_`.
    cost : float64 array of shape (n_points,)
        The cost that counts. With ``counting="full"`` the same; with ``counting="decided"`` what predictions
        acquire that stop early: simulated at a few of the points, with refitted leaves if the estimator's
        are, and interpolated between them.
    score : float64 array of shape (n_points,)
        Cross-fitted: each half of the validation rows judged what the other half (and training rows) made
        for that cost. If the estimator's leaves are refitted, so are these at a few of the points; between
        them, what that gains is interpolated. The best of many scores is a little too good: judge the point
        that you choose by rows of its own. If slack (or a tolerance) changes answers, these are scored.
    is_refitted : bool array of shape (n_points,)
        Where leaves were refitted, and no score is interpolated.
    """

    lam: NDArray[np.float64]
    cost: NDArray[np.float64]
    full_cost: NDArray[np.float64]
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
            {
                "lam": self.lam,
                "cost": self.cost,
                "full_cost": self.full_cost,
                "score": self.score,
                "refitted": self.is_refitted,
            }
        )

    @property
    def best(self) -> int:
        """Number of the point with the best score; of equals, the cheapest. Without scores, the first."""
        if np.isnan(self.score).all():
            return 0
        return len(self) - 1 - int(np.nanargmax(self.score[::-1]))


def trade_off(
    path: PruningPath,
    folds: Sequence[Fold],
    measure: Measure,
    repair: Repair,
    stopping: Stopping | None,
    verbose: bool,
) -> TradeOff:
    """Score points of a path by cross-fitting; with a `stopping`, the costs that count are decided ones."""
    points = evenly_spaced(path.cost, MOST_POINTS)
    cost = path.cost[points]
    score, ratio = np.full(points.size, np.nan), np.ones(points.size)
    is_tried = np.zeros(points.size, dtype=np.bool_)
    if folds:
        score = np.mean([fold.scores_for(measure, cost) for fold in folds], axis=0)
        changes_answers = stopping is not None and stopping.changes_answers(repair.slack)
        if repair.kind is not None or changes_answers:
            is_tried[evenly_spaced(cost, N_REFITS)] = True
            score, ratio = _interpolated(cost, score, is_tried, folds, measure, repair, verbose)
    decided = cost if stopping is None else ratio * _simulated(stopping.along(path, repair.slack), points)
    return TradeOff(
        lam=path.lam[points],
        cost=np.minimum.accumulate(np.minimum(decided, cost)),
        full_cost=cost,
        score=score,
        is_refitted=is_tried & (repair.kind is not None),
    )


def _interpolated(
    cost: NDArray[np.float64],
    score: NDArray[np.float64],
    is_tried: NDArray[np.bool_],
    folds: Sequence[Fold],
    measure: Measure,
    repair: Repair,
    verbose: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores after a repair, and by how much it multiplies decided costs: tried at a few points."""
    bar = tqdm(cost[is_tried], desc="scoring the path", disable=not verbose)
    reached, ratio = np.array(
        [np.mean([fold.tried(measure, repair, each) for fold in folds], axis=0) for each in bar]
    ).T
    at = cost[is_tried][::-1]
    gained = np.interp(cost, at, (reached - score[is_tried])[::-1])
    # No point is said to be better than the best that was seen.
    best = max(*reached, *score)
    return np.minimum(score + gained, best), np.interp(cost, at, ratio[::-1])


def _simulated(decided: DecidedCosts, points: NDArray[np.intp]) -> NDArray[np.float64]:
    """Decided costs of points of a path, most of them interpolated."""
    full = decided.path.cost[points]
    some = points[evenly_spaced(full, N_SIMULATED)][::-1]
    return np.interp(full, decided.path.cost[some], [decided[int(k)] for k in some])


def evenly_spaced(cost: NDArray[np.float64], n_points: int) -> NDArray[np.intp]:
    """Choose at most `n_points` of descending costs, as evenly spaced as they allow; both ends belong."""
    wanted = np.linspace(cost[0], cost[-1], n_points)
    return np.unique(np.abs(cost[:, np.newaxis] - wanted).argmin(axis=0))
