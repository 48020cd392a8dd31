"""`TradeOff`: cost and cross-fitted score of the points of a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.path import DecidedCosts, PruningPath
from budgetprune.selection.candidates import Measure, RefitSpec
from budgetprune.selection.decided_counting import DecidedCounting
from budgetprune.selection.fold import Fold
from budgetprune.utils.html_tables import html_table

if TYPE_CHECKING:
    import pandas as pd

MAX_POINTS = 200
# A refit takes time, and its gain in score changes slowly along the path: it is measured at a few points.
N_REFITS = 3
# Simulations take time too, and decided costs are nearly linear between these points.
N_SIMULATED = 9


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """Points of a path with their costs and scores, evenly spaced in cost, from expensive to cheap.

    Attributes
    ----------
    lam, full_cost : float64 arrays of shape (n_points,)
        Of the points of `path_`.
    cost : float64 array of shape (n_points,)
        Full cost, or with ``counting="decided"`` the cost of predictions that stop early: simulated at a few
        of the points, with refitted leaves if those of the estimator are refitted, and interpolated between
        them.
    score : float64 array of shape (n_points,)
        Cross-fitted: each half of the validation rows evaluates the pruning that was built for that cost with
        the other half (and training rows). If the estimator's leaves are refitted, so are these at a few of
        the points; between them, the gain in score is interpolated. The best of many scores is a little too
        high: evaluate the point that you choose on separate rows. If slack (or a tolerance) changes
        labels, the changed labels are scored.
    is_refitted : bool array of shape (n_points,)
        Whether leaves were refitted at the point, so that its score is not interpolated.
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

    def _repr_html_(self) -> str:
        """Table for notebooks; the best score is bold."""
        columns = {
            "cost": self.cost,
            "full cost": self.full_cost,
            "score": self.score,
            "lam": self.lam,
            "refitted": self.is_refitted,
        }
        return html_table(repr(self), columns, marked=self.best)

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
        """Index of the point with the best score, the cheapest on ties; 0 if there are no scores."""
        if np.isnan(self.score).all():
            return 0
        return len(self) - 1 - int(np.nanargmax(self.score[::-1]))


def trade_off(
    path: PruningPath,
    folds: Sequence[Fold],
    measure: Measure,
    refit: RefitSpec,
    counting: DecidedCounting | None,
    verbose: bool,
) -> TradeOff:
    """Score points of a path by cross-fitting; their costs are decided ones if there is a `counting`."""
    points = evenly_spaced(path.cost, MAX_POINTS)
    cost = path.cost[points]
    score, ratio = np.full(points.size, np.nan), np.ones(points.size)
    is_tried = np.zeros(points.size, dtype=np.bool_)
    if folds:
        score = np.mean([fold.scores_for(measure, cost) for fold in folds], axis=0)
        changes_labels = counting is not None and counting.changes_labels(refit.slack)
        if refit.kind is not None or changes_labels:
            is_tried[evenly_spaced(cost, N_REFITS)] = True
            bar = tqdm(cost[is_tried], desc="scoring the path", leave=None, disable=not verbose)
            tried = [
                np.mean([fold.try_refit(measure, refit, each) for fold in folds], axis=0) for each in bar
            ]
            score, ratio = _interpolated(cost, score, is_tried, np.array(tried))
    decided = cost if counting is None else ratio * _simulated(counting.path_costs(path, refit.slack), points)
    return TradeOff(
        lam=path.lam[points],
        cost=np.minimum.accumulate(np.minimum(decided, cost)),
        full_cost=cost,
        score=score,
        is_refitted=is_tried & (refit.kind is not None),
    )


def _interpolated(
    cost: NDArray[np.float64],
    score: NDArray[np.float64],
    is_tried: NDArray[np.bool_],
    tried: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and cost ratios of all points after a refit, from those of the points that were `tried`."""
    reached, ratio = tried.T
    at = cost[is_tried][::-1]
    gained = np.interp(cost, at, (reached - score[is_tried])[::-1])
    # No interpolated score is better than the best measured one.
    best = max(*reached, *score)
    return np.minimum(score + gained, best), np.interp(cost, at, ratio[::-1])


def _simulated(decided: DecidedCosts, points: NDArray[np.intp]) -> NDArray[np.float64]:
    """Decided costs of points of a path, most of them interpolated."""
    full = decided.path.cost[points]
    some = points[evenly_spaced(full, N_SIMULATED)][::-1]
    return np.interp(full, decided.path.cost[some], [decided[int(k)] for k in some])


def evenly_spaced(cost: NDArray[np.float64], n_points: int) -> NDArray[np.intp]:
    """Indices of at most `n_points` of descending costs, spaced as evenly as possible, with both ends."""
    wanted = np.linspace(cost[0], cost[-1], n_points)
    return np.unique(np.abs(cost[:, np.newaxis] - wanted).argmin(axis=0))
