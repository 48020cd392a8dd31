"""`FinalModel`: the chosen point of the path, with its leaves refitted on T and V, and its cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.path import PruningPath, check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.problem import Pruning
from budgetprune.refit import Refit, Sample, refit_pruning
from budgetprune.selection.candidates import RefitSpec
from budgetprune.selection.decided_counting import DecidedCounting
from budgetprune.selection.tradeoff import TradeOff

# Gradient tolerance of the final refit. Stopping here takes half the time of full convergence, and the ridge
# was chosen with refits that stop even earlier.
TOLERANCE = 3e-2
# Decided costs are known only after the refit. The search ends at a point that uses this share of the
# budget, or after this number of refits; without refits, of simulations.
USES_ENOUGH = 0.98
MAX_REFITS = 3
MAX_SIMULATIONS = 12
# With a smaller share of the budget than this, the search goes on, up to `MAX_SIMULATIONS`.
USES_SOME = 0.5
# Largest factor by which a counted cost corrects the expected costs of other points.
MAX_CORRECTION = 4.0
# After each point that was too expensive, the target of the search is reduced by this share.
REDUCTION = 0.005


@dataclass(frozen=True, eq=False)
class FinalModel:
    """A point of the path, the refit of its leaves (if any), and its full or decided cost."""

    pruning: Pruning
    refit: Refit | None
    cost: float

    @property
    def pruned(self) -> Pruning | Refit:
        """The pruning, with refitted leaves if there is a refit."""
        return self.pruning if self.refit is None else self.refit


@dataclass(frozen=True, eq=False)
class FinalModelBuilder:
    """Refit points of a path and count their costs.

    Attributes
    ----------
    path : PruningPath
    tradeoff : TradeOff
        Scores and expected costs of some points.
    refit : RefitSpec
    sample : Sample or None
        Rows of the refit; None if leaves are not refitted.
    counting : DecidedCounting or None
        None if full costs count.
    """

    path: PruningPath
    tradeoff: TradeOff
    refit: RefitSpec
    sample: Sample | None
    counting: DecidedCounting | None

    def build(self, *, budget: float | None, lam: float | None) -> FinalModel:
        """Build the point for a budget or a lam, or else the point with the best score."""
        if budget is None:
            best = float(self.tradeoff.lam[self.tradeoff.best])
            return self._refitted(self.path.at(lam=best if lam is None else lam))
        if self.counting is None:
            return self._refitted(self.path.at(budget=budget))
        return self._within_decided(check_budget(budget))

    def _refitted(self, pruning: Pruning) -> FinalModel:
        refit = None
        if self.refit.kind is not None:
            assert self.sample is not None
            refit = refit_pruning(
                pruning, self.sample, self.refit.kind, self.refit.ridge, tolerance=TOLERANCE
            )
        if self.counting is None:
            return FinalModel(pruning, refit, pruning.cost)
        forest = pruning.forest if refit is None else refit.forest
        return FinalModel(pruning, refit, self.counting.mean_cost(forest, self.refit.slack))

    def _within_decided(self, amount: float) -> FinalModel:
        """Search for the most expensive point whose decided cost after the refit is within an amount.

        Each counted cost corrects the expected costs of other points. Where a counted cost differs much from
        the expected one, as at points that are certain without any value, expected costs tell nothing about
        other points, and the search bisects full costs. The point whose *full* cost is within the amount is
        always valid, so the search cannot end without a result.
        """
        path, tradeoff = self.path, self.tradeoff
        expected = np.interp(path.cost, tradeoff.full_cost[::-1], tradeoff.cost[::-1])
        valid, too_expensive, best = first_within(path.cost, amount), -1, None
        target, bisects = amount, False
        usual = MAX_SIMULATIONS if self.refit.kind is None else MAX_REFITS
        for n_counted in range(MAX_SIMULATIONS):
            upper = valid if best is None else valid - 1
            k = _middle(path.cost, too_expensive, upper) if bisects else first_within(expected, target)
            k = min(max(k, too_expensive + 1), upper)
            model = self._refitted(path[k])
            ratio = model.cost / expected[k] if expected[k] > 0 else 0.0
            if 1 / MAX_CORRECTION <= ratio <= MAX_CORRECTION:
                expected = expected * ratio
            else:
                bisects = True
            if model.cost <= amount:
                valid, best = k, model
            else:
                too_expensive, target = k, target * (1 - REDUCTION)
            if valid - too_expensive == 1 or (best is not None and best.cost >= USES_ENOUGH * amount):
                break
            if n_counted + 1 >= usual:
                if best is not None and best.cost >= USES_SOME * amount:
                    break
                bisects = True
        if best is None:
            best = self._refitted(path[valid])
        useful = path.cheapest_useful
        if useful is not None and valid > useful:
            warn_that_budget_buys_nothing(amount, self.useful_cost, path[valid], stacklevel=5)
        return best

    @property
    def useful_cost(self) -> float:
        """Counted cost of the cheapest point that costs more than the last one; 0 if there is none.

        A point that is certain without any value has a decided cost of 0, although its full cost is higher.
        """
        useful = self.path.cheapest_useful
        if useful is None:
            return 0.0
        least = self._refitted(self.path[len(self.path) - 1]).cost
        dear, cheap, cost = -1, useful + 1, 0.0
        while cheap - dear > 1:
            k = useful if cheap > useful else (dear + cheap) // 2
            found = self._refitted(self.path[k]).cost
            if found > least:
                dear, cost = k, found
            else:
                cheap = k
        return cost


def _middle(cost: NDArray[np.float64], before: int, last: int) -> int:
    """Index of the point in the middle, by cost, of the points after `before` up to `last`."""
    first = before + 1
    return first + first_within(cost[first : last + 1], (cost[first] + cost[last]) / 2)
