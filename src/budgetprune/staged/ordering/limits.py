"""`CostLimits`: prices of the sources and cost limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable


@dataclass(frozen=True, eq=False)
class CostLimits:
    """Prices of the sources, and limits on the cost of predictions.

    Attributes
    ----------
    costs : CostTable
    budget : float
        Largest average cost of a prediction; infinite if there is no limit.
    max_cost : float
        Largest cost of a single prediction; infinite if there is no limit.
    """

    costs: CostTable
    budget: float
    max_cost: float

    def offered_sources(self) -> NDArray[np.bool_]:
        """Find the sources of the features whose price alone is at most `max_cost`."""
        is_affordable = self.costs.price_alone <= self.max_cost * ROUNDING
        return self.costs.needed_by(np.flatnonzero(is_affordable))
