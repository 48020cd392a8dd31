"""`DecidedCounting`: average cost of predictions that stop once they are decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.path import DecidedCosts, PruningPath
from budgetprune.predictor import BudgetPredictor, Simulation
from budgetprune.selection.rows import LabelledRows


@dataclass(frozen=True, eq=False)
class DecidedCounting:
    """Simulation settings, apart from the slack, and the rows whose decided costs are counted.

    Attributes
    ----------
    prices : CostTable
    threshold, tolerance : see `BudgetPredictor`
    rows : LabelledRows
        Rows of the final count: V.
    trial_rows : LabelledRows
        Some of them, enough for an average cost while candidates are compared.
    """

    prices: CostTable
    threshold: float | None
    tolerance: float | None
    rows: LabelledRows
    trial_rows: LabelledRows

    def changes_labels(self, slack: float) -> bool:
        """Whether labels may differ from those that all features together give."""
        return slack > 0 or bool(self.tolerance)

    def simulate(self, forest: Forest, rows: LabelledRows, slack: float) -> Simulation:
        """Simulate predictions: labels, costs and acquired sources of rows."""
        predictor = BudgetPredictor(
            forest, self.prices, slack=slack, threshold=self.threshold, tolerance=self.tolerance
        )
        return predictor.simulate(rows.X)

    def mean_cost(self, forest: Forest, slack: float) -> float:
        """Average decided cost of a forest on `rows`."""
        return float(np.average(self.simulate(forest, self.rows, slack).cost, weights=self.rows.weight))

    def path_costs(self, path: PruningPath, slack: float, rows: LabelledRows | None = None) -> DecidedCosts:
        """Average decided costs of the points of a path on `rows` (None: `trial_rows`)."""
        rows = self.trial_rows if rows is None else rows
        return path.decided(
            rows.X,
            self.prices,
            slack=slack,
            threshold=self.threshold,
            tolerance=self.tolerance,
            sample_weight=rows.weight,
        )
