"""`DecidedCosts`: what the points of a path cost if predictions stop once they are decided."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.path.budgets import check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem.pruning import Pruning
from budgetprune.utils.row_values import as_weights

if TYPE_CHECKING:
    from budgetprune.path.path import PruningPath

# A first guess at decided cost as a share of full cost.
USUAL_SHARE = 0.7


class DecidedCosts:
    """Count what the prunings of a path really acquire, and pick one for a budget of that.

    The path minimises *full* cost, which adds up; a `BudgetPredictor` stops once an answer is decided, and
    acquires less. How much less, only a simulation tells, so points are simulated when they are asked for:
    ``decided[k]`` is the average decided cost of point `k`. Decided costs nearly always fall where full costs
    do, so that `at` finds its way along the path with few simulations.

    Parameters
    ----------
    path : PruningPath
    X : rows to simulate, of any form that `Forest.prepare_rows` takes
        Best those that the path counts its costs on.
    costs : FeatureCosts or what it takes, or CostTable
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
        # The smallest forest is enough to see whether everything fits together.
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
        """Pick the most expensive point whose decided cost is within a budget; see `PruningPath.at`.

        The `cost` of what is returned is its full cost, as everywhere on the path.
        """
        amount = check_budget(budget)
        k = self.point_within(amount)
        if self[k] > amount:
            raise InvalidInputError(
                f"every point of this path costs more than {amount:.6g}, even if decided early; the cheapest "
                f"costs {self[-1]:.6g}. Compute the path for larger lams, or for all: problem.path()."
            )
        useful = np.flatnonzero(self.path.cost > self.path.cost[-1])
        if useful.size and k > useful[-1]:
            warn_that_budget_buys_nothing(amount, self[useful[-1]], self.path[k], stacklevel=3)
        return self.path[k]

    def point_within(self, budget: float, *, precision: float = 0.0) -> int:
        """Number of the most expensive point within a budget, or else of the cheapest one.

        Points whose full costs differ by no more than a share of `precision` need not be told apart.
        """
        full = self.path.cost
        # Nothing costs more than its full cost, so this one is within the budget, and it is not simulated.
        good, bad = first_within(full, budget), -1
        share, beyond, n_steps = USUAL_SHARE, 1.0, 0
        while good - bad > 1 and (bad < 0 or full[bad] - full[good] > precision * full[good]):
            # Shares change slowly along the path, but nobody knows: every third step halves what is left.
            by_share = n_steps % 3 < 2 and share > 0
            k = first_within(full, beyond * budget / share) if by_share else (good + bad) // 2
            k = min(max(k, bad + 1), good - 1)
            is_within = self[k] <= budget
            good, bad = (k, bad) if is_within else (good, k)
            share = self[k] / full[k] if full[k] > 0 else 0.0
            # The next step goes a little beyond, so that the answer is soon enclosed from both sides.
            beyond, n_steps = 1 + (precision if is_within else -precision) / 2, n_steps + 1
        return good
