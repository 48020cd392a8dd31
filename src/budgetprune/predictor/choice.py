"""Choice of the next source for an example."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.predictor.state import State
from budgetprune.predictor.tables import Sources
from budgetprune.utils.jit import njit


@njit(cache=True)
def choose(sources: Sources, cost_limit: float, state: State) -> tuple[int, bool]:
    """Choose the source with the greatest need per unit of cost, among those that some tree waits for.

    So no source is acquired that the plain forest would not need as well.

    Returns
    -------
    source : index of the next source, -1 if there is none
    too_expensive : whether a larger cost limit would allow one
    """
    if sources.is_shared:
        return choose_together(sources, cost_limit, state)
    n_waiting, needs, price, need = state.n_waiting, sources.needs, sources.price, state.need
    acquired, is_available = state.acquired, state.is_available
    best, best_gain, best_price, too_expensive = -1, 0.0, 0.0, False
    for k in range(need.size):
        if n_waiting[k] > 0:
            s = needs[k]
            if is_available[s] and not acquired[s]:
                gain = float(need[k])
                if price[s] > cost_limit:
                    too_expensive = True
                elif best < 0 or is_better(gain, price[s], best_gain, best_price):
                    best, best_gain, best_price = s, gain, price[s]
    return best, too_expensive


@njit(cache=True, inline="always")
def is_better(gain: float, price: float, best_gain: float, best_price: float) -> bool:
    """Return whether the gain per unit of cost is larger, or equal at a lower price."""
    this, that = gain * best_price, best_gain * price
    return this > that or (this == that and price < best_price)


@njit(cache=True)
def choose_together(sources: Sources, cost_limit: float, state: State) -> tuple[int, bool]:
    """Choose the next source if features share sources, or if a feature lacks several sources.

    For each feature, the total price of its missing sources is compared with the total need of the features
    that they make available. Of the best feature's missing sources, the one that most features need is first.
    """
    price, needs, needs_start, gives_start = (
        sources.price,
        sources.needs,
        sources.needs_start,
        sources.gives_start,
    )
    acquired, is_available, n_waiting = state.acquired, state.is_available, state.n_waiting
    need, gain, bundle = state.need, state.gain, state.bundle
    gain[:] = 0
    n_bundles = 0
    for k in range(need.size):
        if need[k] > 0:
            n_missing, source = 0, -1
            for j in range(needs_start[k], needs_start[k + 1]):
                if not acquired[needs[j]]:
                    n_missing, source = n_missing + 1, needs[j]
            if n_missing == 1:
                gain[source] += need[k]
            elif n_missing > 1:
                bundle[n_bundles] = k
                n_bundles += 1
    best, best_gain, best_price, too_expensive = -1, 0.0, 0.0, False
    for k in range(need.size):
        if n_waiting[k] == 0:
            continue
        own_price, own_gain, first, n_missing, is_obtainable = 0.0, 0.0, -1, 0, True
        for j in range(needs_start[k], needs_start[k + 1]):
            s = needs[j]
            if not acquired[s]:
                own_price += price[s]
                own_gain += float(gain[s])
                n_missing += 1
                is_obtainable &= is_available[s]
                breadth = gives_start[s + 1] - gives_start[s]
                if first < 0 or breadth > gives_start[first + 1] - gives_start[first]:
                    first = s
        if n_missing == 0 or not is_obtainable:
            continue
        if own_price > cost_limit:
            too_expensive = True
            continue
        if n_missing > 1:
            for j in range(n_bundles):
                if is_covered(sources, bundle[j], k, acquired):
                    own_gain += need[bundle[j]]
        if best < 0 or is_better(own_gain, own_price, best_gain, best_price):
            best, best_gain, best_price = first, own_gain, own_price
    return best, too_expensive


@njit(cache=True)
def is_covered(sources: Sources, k: Any, by: Any, acquired: NDArray[np.bool_]) -> bool:
    """Return whether the sources of feature `by` include all missing sources of feature `k`."""
    for s in sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]:
        if not acquired[s]:
            is_there = False
            for other in sources.needs[sources.needs_start[by] : sources.needs_start[by + 1]]:
                is_there |= other == s
            if not is_there:
                return False
    return True


@njit(cache=True)
def find_wanted(sources: Sources, state: State, is_wanted: NDArray[np.bool_]) -> None:
    """Mark the sources that some tree waits for, if all sources of the feature are available."""
    is_wanted[:] = False
    for k in np.flatnonzero(state.n_waiting):
        needs = sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]
        is_obtainable = True
        for s in needs:
            is_obtainable &= state.is_available[s]
        for s in needs:
            is_wanted[s] |= is_obtainable
