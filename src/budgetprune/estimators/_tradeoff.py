"""`TradeOff`: what each budget would buy, as seen by rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.estimators._choice import Fold, Measure, Repair
from budgetprune.path import PruningPath

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 200
# A refit at every point takes time, so there are fewer of them.
MOST_REFITTED = 12


@dataclass(frozen=True, eq=False)
class TradeOff:
    """Points of a path, evenly spaced in cost, from expensive to cheap.

    Attributes
    ----------
    lam, cost : float64 arrays of shape (n_points,)
        Of the points of `path_`; costs are full costs.
    score : float64 array of shape (n_points,)
        Cross-fitted: each half of the validation rows judged what the other half (and the training rows)
        made for that cost. Leaves are refitted if the estimator's are.
    """

    lam: NDArray[np.float64]
    cost: NDArray[np.float64]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return self.lam.size

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        return pd.DataFrame({"lam": self.lam, "cost": self.cost, "score": self.score})

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
    points = evenly_spaced(path.cost, MOST_POINTS if repair.kind is None else MOST_REFITTED)
    cost = path.cost[points]
    if not folds:
        score = np.full(points.size, np.nan)
    elif repair.kind is None:
        score = np.mean([fold.scores_for(measure, cost) for fold in folds], axis=0)
    else:
        bar = tqdm(cost, desc="scoring the path", disable=not verbose)
        score = np.array([np.mean([fold.score(measure, repair, each) for fold in folds]) for each in bar])
    return TradeOff(path.lam[points], cost, score)


def evenly_spaced(cost: NDArray[np.float64], n_points: int) -> NDArray[np.intp]:
    """Choose at most `n_points` of descending costs, as evenly spaced as they allow; both ends belong."""
    wanted = np.linspace(cost[0], cost[-1], n_points)
    return np.unique(np.abs(cost[:, np.newaxis] - wanted).argmin(axis=0))
