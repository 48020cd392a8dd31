"""`StagedTradeOff`: cost and score of each point of the curve, with its stopping rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class StagedTradeOff:
    """What each budget buys, as rows saw it that had no part in training or in the stopping rule.

    Points are in order of their cost, and each has a better score than all cheaper ones; where wrong answers
    have prices (`error_costs`), each has a smaller loss than all cheaper ones, and no point costs more in all
    (cost and loss) than a cheaper one, up to the one that costs least in all. If no point of a classifier has
    a better accuracy than buying nothing, each has a smaller log loss than all cheaper ones.

    Attributes
    ----------
    cost, score : float64 arrays of shape (n_points,)
        Averages over the folds of cross-fitting.
    cost_std, score_std : float64 arrays of shape (n_points,)
        Standard deviations over the folds.
    loss : float64 array of shape (n_points,)
        What wrong answers cost on average.
    lam : float64 array of shape (n_points,)
        How much loss a unit of cost is worth; 0 where all rows stop at the same stage.
    chain : int array of shape (n_points,)
        Which chain of stages a point belongs to.
    thresholds : tuple of float64 arrays
        By stage: a row goes on if its uncertainty is above.
    stops : tuple of float64 arrays
        By stage: the share of the rows that stop there.
    stage_score : tuple of float64 arrays
        For each chain, not for each point: the score if all rows stop at a stage, by stage. Empty if it is
        not known.
    """

    cost: NDArray[np.float64]
    score: NDArray[np.float64]
    cost_std: NDArray[np.float64]
    score_std: NDArray[np.float64]
    loss: NDArray[np.float64]
    lam: NDArray[np.float64]
    chain: NDArray[np.intp]
    thresholds: tuple[NDArray[np.float64], ...]
    stops: tuple[NDArray[np.float64], ...]
    stage_score: tuple[NDArray[np.float64], ...] = ()

    def __len__(self) -> int:
        return self.cost.size

    def __repr__(self) -> str:
        return f"StagedTradeOff({len(self)} points, cost {self.cost[0]:.4g} to {self.cost[-1]:.4g})"

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        names = ("cost", "cost_std", "score", "score_std", "loss", "lam", "chain")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def within(self, budget: float) -> int | None:
        """Number of the best point whose cost is within a budget; None if there is none."""
        n = int(np.searchsorted(self.cost, budget * ROUNDING, side="right"))
        return n - 1 if n else None

    def cheapest_in_all(self) -> int:
        """Number of the point at which cost and loss together are least."""
        return int(np.argmin(self.cost + self.loss))

    def take(self, points: NDArray[np.intp]) -> StagedTradeOff:
        """Return some of the points."""
        arrays = ("cost", "score", "cost_std", "score_std", "loss", "lam", "chain")
        chosen: dict[str, Any] = {name: getattr(self, name)[points] for name in arrays}
        chosen |= {
            name: tuple(getattr(self, name)[i] for i in points.tolist()) for name in ("thresholds", "stops")
        }
        return StagedTradeOff(**chosen, stage_score=self.stage_score)
