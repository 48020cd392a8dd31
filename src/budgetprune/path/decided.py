"""`DecidedCosts`: costs of the points of a path if predictions stop once they are decided."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.path.budgets import check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem import Pruning
from budgetprune.utils.row_values import as_weights

if TYPE_CHECKING:
    from budgetprune.path.path import PruningPath

# First guess of the ratio of decided cost to full cost.
USUAL_RATIO = 0.7


class DecidedCosts:
    """Decided costs of the points of a path, computed by simulation on request.

    A path minimises the *full* cost: the price of all sources that the trees need. A `BudgetPredictor` stops
    once a prediction is decided, and acquires less. ``decided[k]`` is the average decided cost of point `k`;
    the point is simulated at the first access. Decided costs nearly always decrease along with full costs, so
    that `at` finds a point with few simulations.

    Parameters
    ----------
    path : PruningPath
    X : rows to simulate, in any form accepted by `Forest.prepare_rows`
        Preferably the rows that the costs of the path were computed on.
    costs : FeatureCosts or its argument, or CostTable
        The prices that the path was computed for.
    slack, threshold, tolerance : see `BudgetPredictor`
    sample_weight : array-like of shape (n_rows,), optional
    """

    def __init__(
        self,
        path: PruningPath,
        X: Any,
        costs: Any = None,
        *,
        slack: float = 0.0,
        threshold: float | None = None,
        tolerance: float | None = None,
        sample_weight: Any = None,
    ) -> None:
        self.path = path
        self._rows = path.forest.prepare_rows(X)
        self._weight = as_weights(sample_weight, len(self._rows), "sample_weight")
        self._settings: dict[str, Any] = {"slack": slack, "threshold": threshold, "tolerance": tolerance}
        # Validates the settings and costs; the smallest forest is enough.
        self._costs = BudgetPredictor(path[-1].forest, costs, **self._settings).costs
        if path.source_names not in ((), self._costs.source_names):
            raise InvalidInputError(
                f"these costs have other sources ({', '.join(self._costs.source_names[:5])}, ...) than those "
                f"of the path ({', '.join(path.source_names[:5])}, ...); give the costs of its problem."
            )
        self._known: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self.path)

    def __getitem__(self, point: int) -> float:
        k = range(len(self))[operator.index(point)]
        if k not in self._known:
            predictor = BudgetPredictor(self.path[k].forest, self._costs, **self._settings)
            self._known[k] = float(np.average(predictor.simulate(self._rows).cost, weights=self._weight))
        return self._known[k]

    def __repr__(self) -> str:
        return f"DecidedCosts({len(self)} points, {len(self._known)} simulated)"

    def at(self, *, budget: float) -> Pruning:
        """Return the most expensive point whose decided cost is within a budget; see `PruningPath.at`.

        The `cost` of the pruning that is returned is its full cost.
        """
        amount = check_budget(budget)
        k = self.point_within(amount)
        if self[k] > amount:
            raise InvalidInputError(
                f"every point of this path costs more than {amount:.6g}, even if decided early; the cheapest "
                f"costs {self[-1]:.6g}. Compute the path for larger lams, or for all: problem.path()."
            )
        useful = self.path.cheapest_useful
        if useful is not None and k > useful:
            warn_that_budget_buys_nothing(amount, self[useful], self.path[k], stacklevel=3)
        return self.path[k]

    def point_within(self, budget: float, *, precision: float = 0.0) -> int:
        """Return the index of the most expensive point within a budget, or of the cheapest point.

        The search stops at points whose full costs differ by no more than the fraction `precision`.
        """
        full = self.path.cost
        # Decided costs are at most full costs, so this point is within the budget without a simulation.
        good, bad = first_within(full, budget), -1
        ratio, beyond, n_steps = USUAL_RATIO, 1.0, 0
        while good - bad > 1 and (bad < 0 or full[bad] - full[good] > precision * full[good]):
            # The ratio usually changes slowly along the path. In case it does not, every third step bisects.
            by_ratio = n_steps % 3 < 2 and ratio > 0
            k = first_within(full, beyond * budget / ratio) if by_ratio else (good + bad) // 2
            k = min(max(k, bad + 1), good - 1)
            is_within = self[k] <= budget
            good, bad = (k, bad) if is_within else (good, k)
            ratio = self[k] / full[k] if full[k] > 0 else 0.0
            # The next step goes a little further, so that the result is soon enclosed from both sides.
            beyond, n_steps = 1 + (precision if is_within else -precision) / 2, n_steps + 1
        return good
