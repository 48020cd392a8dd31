"""`StagedTradeOff`: cost and score of each point of the curve, with its stopping rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.utils.html_tables import html_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class StagedTradeOff:
    """Trade-off curve: cost and score for each budget, cross-fitted.

    Both the stages and the stopping rules are learnt on other rows than those that evaluate them. Points are
    in order of cost, and each has a higher score than all cheaper ones. With error costs, each has a lower
    loss than all cheaper ones, and totals (cost plus loss) decrease up to the lowest one. If no point of a
    classifier is more accurate than acquiring nothing, each has a lower log loss than all cheaper ones.

    Attributes
    ----------
    cost, score : float64 arrays of shape (n_points,)
        Averages over the folds.
    cost_std, score_std : float64 arrays of shape (n_points,)
        Standard deviations over the folds.
    loss : float64 array of shape (n_points,)
        Average cost of wrong answers.
    lam : float64 array of shape (n_points,)
        Loss that a unit of cost is worth; 0 if all rows stop at the same stage.
    chain : int array of shape (n_points,)
        Index of the chain of stages.
    thresholds : tuple of float64 arrays
        One array per point, with a threshold per stage: a row goes on if its uncertainty is above.
    stops : tuple of float64 arrays
        One array per point: share of the rows that stop at each stage.
    stage_score : tuple of float64 arrays
        One array per chain: score if all rows stop at a stage, by stage. Empty if unknown.
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

    def _repr_html_(self) -> str:
        """Table for notebooks; the best score is bold."""
        columns = {
            "cost": self.cost,
            "score": self.score,
            "± (folds)": self.score_std,
            "loss": self.loss,
            "stages": [thresholds.size for thresholds in self.thresholds],
        }
        return html_table(repr(self), columns, marked=int(np.argmax(self.score)))

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        names = ("cost", "cost_std", "score", "score_std", "loss", "lam", "chain")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def within(self, budget: float) -> int | None:
        """Index of the best point within a budget; None if there is none."""
        n = int(np.searchsorted(self.cost, budget * ROUNDING, side="right"))
        return n - 1 if n else None

    def cheapest_in_all(self) -> int:
        """Index of the point with the lowest total of cost and loss."""
        return int(np.argmin(self.cost + self.loss))

    def take(self, points: NDArray[np.intp]) -> StagedTradeOff:
        """Return some of the points."""
        arrays = ("cost", "score", "cost_std", "score_std", "loss", "lam", "chain")
        chosen: dict[str, Any] = {name: getattr(self, name)[points] for name in arrays}
        chosen |= {
            name: tuple(getattr(self, name)[i] for i in points.tolist()) for name in ("thresholds", "stops")
        }
        return StagedTradeOff(**chosen, stage_score=self.stage_score)
