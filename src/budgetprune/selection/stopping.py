"""How predictions stop early, and what rows acquire until then: decided costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.path.decided import DecidedCosts
from budgetprune.predictor import BudgetPredictor, Simulation
from budgetprune.selection.rows import LabelledRows


@dataclass(frozen=True, eq=False)
class Stopping:
    """What is needed to simulate predictions that stop once they are decided, but for the slack.

    Attributes
    ----------
    prices : CostTable
    threshold, tolerance : see `BudgetPredictor`
    rows : LabelledRows
        That pay in the end: V.
    few : LabelledRows
        Some of them, enough for an average cost while choosing.
    """

    prices: CostTable
    threshold: float | None
    tolerance: float | None
    rows: LabelledRows
    few: LabelledRows

    def changes_answers(self, slack: float) -> bool:
        """May answers differ from those that all features together give?"""
        return slack > 0 or bool(self.tolerance)

    def simulate(self, forest: Forest, rows: LabelledRows, slack: float) -> Simulation:
        """What rows acquire, and what is answered then."""
        predictor = BudgetPredictor(
            forest, self.prices, slack=slack, threshold=self.threshold, tolerance=self.tolerance
        )
        return predictor.simulate(rows.X)

    def mean_cost(self, forest: Forest, slack: float) -> float:
        """What the rows that pay in the end acquire on average."""
        return float(np.average(self.simulate(forest, self.rows, slack).cost, weights=self.rows.weight))

    def along(self, path: PruningPath, slack: float, rows: LabelledRows | None = None) -> DecidedCosts:
        """What points of a path cost on average, on `rows` (None: a few of V)."""
        rows = self.few if rows is None else rows
        return path.decided(
            rows.X,
            self.prices,
            slack=slack,
            threshold=self.threshold,
            tolerance=self.tolerance,
            sample_weight=rows.weight,
        )
