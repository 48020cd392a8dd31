"""Orders of sources for different budgets; each becomes a chain of stages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.ordering.forward_selection import order_sources
from budgetprune.staged.ordering.limits import CostLimits
from budgetprune.staged.training.trials import TrialTrainer

# Exponents of prices in the order of sources, tried if prices differ: what a source saves per unit of price;
# one with which cheap sources come first, for small budgets; and what it saves, whatever it costs, for large
# ones: cheap sources of little use must not use up what a better one needs.
PER_PRICE, CHEAP_FIRST, WHATEVER_IT_COSTS = 1.0, 2.0, 0.0
EXPONENTS = (PER_PRICE, CHEAP_FIRST, WHATEVER_IT_COSTS)
# For budgets that are too small for these orders: the exponent, and how many orders begin with ever cheaper
# sources. Five powers of the largest prices are finite.
CHEAPER_EXPONENT, MOST_CHEAPER = 5.0, 4


def propose_orders(trials: TrialTrainer, limits: CostLimits) -> list[list[Step]]:
    """Order the sources, in several ways if prices differ."""
    is_offered = limits.offered_sources()
    orders = [
        order_sources(trials, AcquiredSources(limits.costs, is_offered), exponent)
        for exponent in _exponents(limits.costs.price[is_offered])
    ]
    orders += _cheaper_orders(trials, limits, orders)
    orders += _affordable_order(trials, limits)
    return [within(limits.costs, order, limits.max_cost) for order in orders]


def _cheaper_orders(
    trials: TrialTrainer, limits: CostLimits, orders: Sequence[list[Step]]
) -> list[list[Step]]:
    """Order the sources that are cheaper than what all others begin with, for budgets below that.

    A budget that is asked for has an order of what fits into it, by what a source saves per price. Others
    follow, each of sources that are cheaper than what the one before begins with.
    """
    first = min((order[0].price for order in orders if order), default=0.0)
    found: list[list[Step]] = []
    if limits.budget < first:
        found += _order_up_to(trials, limits, limits.budget * ROUNDING, PER_PRICE)
    while len(found) < MOST_CHEAPER:
        first = min([first, *(order[0].price for order in found)])
        more = _order_up_to(trials, limits, first / ROUNDING, CHEAP_FIRST if not found else CHEAPER_EXPONENT)
        if not more:
            break
        found += more
    return found


def _affordable_order(trials: TrialTrainer, limits: CostLimits) -> list[list[Step]]:
    """Order the sources of the features that a row can have within the budget, whatever they cost.

    The other order that ignores prices may begin with a source that is too expensive.
    """
    alone = limits.costs.price_alone
    if limits.budget >= alone.max() or len(_exponents(limits.costs.price)) == 1:
        return []
    return _order_up_to(trials, limits, limits.budget * ROUNDING, WHATEVER_IT_COSTS)


def _order_up_to(trials: TrialTrainer, limits: CostLimits, limit: float, exponent: float) -> list[list[Step]]:
    """Order the sources of the features that cost no more than a limit; no order if none of them helps."""
    alone = limits.costs.price_alone
    is_cheap = alone <= min(limit, limits.max_cost * ROUNDING)
    if not np.any(is_cheap & (alone > 0)):
        return []
    order = order_sources(
        trials, AcquiredSources(limits.costs, limits.costs.needed_by(np.flatnonzero(is_cheap))), exponent
    )
    return [order] if order and order[0].price <= limit else []


def within(costs: CostTable, order: Sequence[Step], max_cost: float) -> list[Step]:
    """Leave out the features that do not fit into a limit any more, once those before are bought.

    A feature that fits buys all that it needs, also what it shares with features that are left out.
    """
    if max_cost == np.inf:
        return list(order)
    planned, bought = AcquiredSources(costs), AcquiredSources(costs)
    kept: list[Step] = []
    paid = 0.0
    for step in order:
        before = planned.columns()
        planned.acquire(step)
        for feature in np.setdiff1d(planned.columns(), before).tolist():
            needs = costs.needs[costs.needs_start[feature] : costs.needs_start[feature + 1]]
            sources = tuple(needs[~bought.has[needs]].tolist())
            price = float(costs.price[list(sources)].sum())
            if sources and paid + price <= max_cost * ROUNDING:
                kept.append(Step(sources, price))
                bought.acquire(kept[-1])
                paid += price
    return kept


def _exponents(price: NDArray[np.float64]) -> tuple[float, ...]:
    paid = price[price > 0]
    return EXPONENTS if paid.size and paid.max() > 1.01 * paid.min() else EXPONENTS[:1]
