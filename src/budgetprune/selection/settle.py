"""The end of `fit`: the point of the path, its leaves refitted on T and V, and what it costs then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.path import PruningPath, check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Refit, Sample, refit_pruning
from budgetprune.selection.context import Repair
from budgetprune.selection.stopping import Stopping
from budgetprune.selection.tradeoff import TradeOff

# What is left of the gradient when leaves are refitted for good. Stopping here takes half the time of going
# on, and validation rows have chosen the ridge with refits that stop even earlier.
TOLERANCE = 3e-2
# Decided costs are known only once leaves are refitted. The search ends at a point that uses this share of
# the budget, or after so many refits; without refits, so many simulations.
USES_ENOUGH = 0.98
MOST_REFITS = 3
MOST_SIMULATIONS = 12
# After each point that was too expensive, the next one aims so much lower.
CAUTION = 0.005


@dataclass(frozen=True, eq=False)
class Settled:
    """A point of the path, the refit of its leaves if there is one, and the cost that counts."""

    pruning: Pruning
    refit: Refit | None
    cost: float

    @property
    def made(self) -> Pruning | Refit:
        """What predicts."""
        return self.pruning if self.refit is None else self.refit


def settle(
    path: PruningPath,
    tradeoff: TradeOff,
    repair: Repair,
    sample: Sample | None,
    stopping: Stopping | None,
    *,
    budget: float | None,
    lam: float | None,
) -> Settled:
    """Pick the point that was asked for, or else the one with the best score, and refit its leaves.

    Parameters
    ----------
    path, tradeoff : all points, and what is known about some of them
    repair : how leaves are refitted, and the slack
    sample : rows to refit leaves on
    stopping : if decided costs count
    budget, lam : at most one of them
    """

    def settled(pruning: Pruning) -> Settled:
        refit = None
        if repair.kind is not None:
            assert sample is not None
            refit = refit_pruning(pruning, sample, repair.kind, repair.ridge, tolerance=TOLERANCE)
        if stopping is None:
            return Settled(pruning, refit, pruning.cost)
        forest = pruning.forest if refit is None else refit.forest
        return Settled(pruning, refit, stopping.mean_cost(forest, repair.slack))

    if budget is None:
        return settled(path.at(lam=float(tradeoff.lam[tradeoff.best]) if lam is None else lam))
    if stopping is None:
        return settled(path.at(budget=budget))
    expected = np.interp(path.cost, tradeoff.full_cost[::-1], tradeoff.cost[::-1])
    most = MOST_SIMULATIONS if repair.kind is None else MOST_REFITS
    return _settled_within(path, check_budget(budget), expected, lambda k: settled(path[k]), most)


def _settled_within(
    path: PruningPath,
    amount: float,
    expected: NDArray[np.float64],
    settled: Callable[[int], Settled],
    most_tries: int,
) -> Settled:
    """Search for the most expensive point whose cost, counted in the end, is within an amount.

    Costs that were counted correct what is expected of other points. The point whose *full* cost is within
    the amount is good in any case, so the search cannot end without an answer.
    """
    good, bad, found = first_within(path.cost, amount), -1, None
    aim = amount
    for _ in range(most_tries):
        k = min(max(first_within(expected, aim), bad + 1), good if found is None else good - 1)
        tried = settled(k)
        if expected[k] > 0:
            expected = expected * (tried.cost / expected[k])
        if tried.cost <= amount:
            good, found = k, tried
        else:
            bad, aim = k, aim * (1 - CAUTION)
        if good - bad == 1 or (found is not None and found.cost >= USES_ENOUGH * amount):
            break
    found = settled(good) if found is None else found
    useful = path.cheapest_useful
    if useful is not None and good > useful:
        warn_that_budget_buys_nothing(amount, expected[useful], path[good], stacklevel=5)
    return found
