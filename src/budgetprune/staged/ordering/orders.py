"""Orders of sources for different budgets; each order becomes a chain of stages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.ordering.forward_selection import order_sources
from budgetprune.staged.ordering.limits import CostLimits
from budgetprune.staged.training.trials import TrialTrainer

# Exponents of the price when sources are ordered by loss saved per price; all are used if prices differ.
# CHEAP_FIRST is for small budgets. IGNORE_PRICE is for large ones: there, cheap sources of little use should
# not take the budget that a better source needs.
PER_PRICE, CHEAP_FIRST, IGNORE_PRICE = 1.0, 2.0, 0.0
EXPONENTS = (PER_PRICE, CHEAP_FIRST, IGNORE_PRICE)
# For budgets below the first source of all these orders: exponent, and largest number of further orders. The
# fifth power of the largest price is still finite.
CHEAPER_EXPONENT, MOST_CHEAPER = 5.0, 4


def propose_orders(trials: TrialTrainer, limits: CostLimits) -> list[list[Step]]:
    """Return orders of the sources: one if all prices are equal, else several for different budgets."""
    is_offered = limits.offered_sources()
    orders = [
        order_sources(trials, AcquiredSources(limits.costs, is_offered), exponent)
        for exponent in _exponents(limits.costs.price[is_offered])
    ]
    orders += _cheaper_orders(trials, limits, orders)
    orders += _affordable_order(trials, limits)
    orders += _order_below_best(trials, limits, orders)
    return [within(limits.costs, order, limits.max_cost) for order in orders]


def _cheaper_orders(
    trials: TrialTrainer, limits: CostLimits, orders: Sequence[list[Step]]
) -> list[list[Step]]:
    """Return orders for budgets below the price of the first step of all given orders.

    If the requested budget is that small, the first order has the sources within it, by loss saved per unit
    of price. Each further order has only sources that are cheaper than the first step of the order before.
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
    """Return an order that ignores prices, of the sources of features that cost no more than the budget.

    The order of all sources that ignores prices may begin with a source that is too expensive.
    """
    alone = limits.costs.price_alone
    if limits.budget >= alone.max() or len(_exponents(limits.costs.price)) == 1:
        return []
    return _order_up_to(trials, limits, limits.budget * ROUNDING, IGNORE_PRICE)


def _order_below_best(
    trials: TrialTrainer, limits: CostLimits, orders: Sequence[list[Step]]
) -> list[list[Step]]:
    """Return an order of the sources cheaper than the most informative one; it ignores prices.

    If the most informative source is expensive, the other orders acquire the cheapest sources first, whatever
    they are worth. So budgets below the price of that source need an order that begins with the most
    informative of the others; there is none if another order begins with it.
    """
    if len(_exponents(limits.costs.price[limits.offered_sources()])) == 1:
        return []
    ignoring = orders[EXPONENTS.index(IGNORE_PRICE)]
    if not ignoring:
        return []
    found = _order_up_to(trials, limits, ignoring[0].price / ROUNDING, IGNORE_PRICE)
    begun = [order[0].sources for order in orders if order]
    return [order for order in found if order[0].sources not in begun]


def _order_up_to(trials: TrialTrainer, limits: CostLimits, limit: float, exponent: float) -> list[list[Step]]:
    """Order the sources of the features that cost no more than a limit; no order if none of them helps.

    Returns a list with at most one order.
    """
    alone = limits.costs.price_alone
    is_cheap = alone <= min(limit, limits.max_cost * ROUNDING)
    if not np.any(is_cheap & (alone > 0)):
        return []
    order = order_sources(
        trials, AcquiredSources(limits.costs, limits.costs.needed_by(np.flatnonzero(is_cheap))), exponent
    )
    return [order] if order and order[0].price <= limit else []


def within(costs: CostTable, order: Sequence[Step], max_cost: float) -> list[Step]:
    """Leave out the features that exceed the limit after those before them are acquired.

    A feature within the limit acquires all sources that it needs, even those shared with omitted features.
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
