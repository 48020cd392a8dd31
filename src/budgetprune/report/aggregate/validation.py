"""Cross-fitted costs and scores of a pruned model's path, from the rows that selected the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.aggregate.recommend import recommend
from budgetprune.report.numbers import short, short_amount
from budgetprune.report.summary.common import Recommendation
from budgetprune.report.summary.pruned import Expected, ExpectedPoint

if TYPE_CHECKING:
    from budgetprune.model import About


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """Cross-fitted points from expensive to cheap, with refitted leaves; see `TradeOff`.

    Attributes
    ----------
    full_cost, score : float64 arrays of shape (n_points,)
    cost : float64 array of shape (n_points,), or None
        Decided cost; None if it was not simulated.
    """

    full_cost: NDArray[np.float64]
    cost: NDArray[np.float64] | None
    score: NDArray[np.float64]

    @classmethod
    def of(cls, about: About | None, score_name: str) -> ValidationCurve | None:
        """Return the curve of a model if it has the same score as the report."""
        if about is None or about.tradeoff is None or about.score_name != score_name:
            return None
        full_cost, cost, score = (np.array(about.tradeoff[name]) for name in ("full_cost", "cost", "score"))
        return cls(full_cost, None if about.counting == "full" else cost, score)

    def recommend(self, about: About, *, has_constant: bool) -> tuple[float | None, Recommendation]:
        """Return the full cost of the recommended point, and the reason; see `recommend`."""
        cost = self.full_cost if self.cost is None else self.cost
        is_accuracy = about.task == "classification"
        k, found = recommend(
            cost[::-1],
            self.score[::-1],
            about.n_validation,
            is_accuracy=is_accuracy,
            has_constant=has_constant,
        )
        return None if k is None else float(self.full_cost[::-1][k]), found

    def at(self, full_cost: float) -> ExpectedPoint:
        """Return the most expensive point within a full cost, else the cheapest point."""
        within = np.flatnonzero(self.full_cost <= full_cost * (1 + 1e-9))
        k = int(within[0]) if within.size else self.full_cost.size - 1
        cost = None if self.cost is None else float(self.cost[k])
        return ExpectedPoint(float(self.full_cost[k]), cost, float(self.score[k]))

    def to_summary(self) -> Expected:
        """Return the curve, rounded."""
        return Expected(
            cost=() if self.cost is None else tuple(map(short_amount, self.cost)),
            full_cost=tuple(map(short_amount, self.full_cost)),
            score=tuple(map(short, self.score)),
        )
