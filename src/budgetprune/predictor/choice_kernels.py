"""Choice of the next source for an example."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.predictor.state_kernels import State
    from budgetprune.utils.kernel_types import Doubles, OutFlags, Size, int32_t


class Needs:
    """Sources that features need, and features that need a source.

    Parameters
    ----------
    needs_start, needs : the sources that feature k needs are ``needs[needs_start[k]:needs_start[k + 1]]``
    gives_start, gives : the inverse: the features that need a source
    is_shared : whether any source has several features, or any feature needs several sources
    """

    def __init__(
        self,
        needs_start: NDArray[np.int64],
        needs: NDArray[np.int32],
        gives_start: NDArray[np.int64],
        gives: NDArray[np.int32],
        is_shared: bool,
    ) -> None:
        self.needs_start = needs_start
        self.needs = needs
        self.gives_start = gives_start
        self.gives = gives
        self.is_shared = is_shared


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def choose(needs: Needs, price: Doubles, cost_limit: cython.double, state: State) -> cython.bint:
    """Choose the source with the greatest need per unit of cost, among those that some tree waits for.

    So no source is acquired that the plain forest would not need as well. `state.source` is the next source,
    -1 if there is none.

    Returns
    -------
    too_expensive : whether a larger cost limit would allow one
    """
    if needs.is_shared:
        return choose_together(needs, price, cost_limit, state)
    k: Size
    best: Size = -1
    best_gain: cython.double = -1.0  # worse than all
    best_price: cython.double = 1.0
    too_expensive: cython.bint = False
    for k in range(state.n_features):
        s: Size = needs.needs[k]
        gain: cython.double = state.need[k]
        # Rarely true, so that the processor predicts the branch. Hence the order of the conditions.
        if (gain * best_price >= best_gain * price[s]) & (state.n_waiting[k] > 0):
            if not is_better(gain, price[s], best_gain, best_price):
                continue
            if not state.is_available[s] or state.acquired[s]:
                continue
            if price[s] > cost_limit:
                too_expensive = True
                continue
            best = s
            best_gain = gain
            best_price = price[s]
    state.source = best
    return too_expensive


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_better(
    gain: cython.double, price: cython.double, best_gain: cython.double, best_price: cython.double
) -> cython.bint:
    """Return whether the gain per unit of cost is larger, or equal at a lower price."""
    this: cython.double = gain * best_price
    that: cython.double = best_gain * price
    return (this > that) | ((this == that) & (price < best_price))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def choose_together(needs: Needs, price: Doubles, cost_limit: cython.double, state: State) -> cython.bint:
    """Choose the next source if features share sources, or if a feature lacks several sources.

    For each feature, the total price of its missing sources is compared with the total need of the features
    that they make available. Of the best feature's missing sources, the one that most features need is first.
    """
    k: Size
    j: Size
    s: Size
    n_missing: Size
    n_bundles: Size = sum_gains(needs, state)
    best: Size = -1
    best_gain: cython.double = 0.0
    best_price: cython.double = 0.0
    too_expensive: cython.bint = False
    for k in range(state.n_features):
        if state.n_waiting[k] == 0:
            continue
        own_price: cython.double = 0.0
        own_gain: cython.double = 0.0
        first: Size = -1
        most: Size = 0
        n_missing = 0
        is_obtainable: cython.bint = True
        for j in range(needs.needs_start[k], needs.needs_start[k + 1]):
            s = needs.needs[j]
            if not state.acquired[s]:
                own_price += price[s]
                own_gain += state.gain[s]
                n_missing += 1
                if not state.is_available[s]:
                    is_obtainable = False
                breadth: Size = needs.gives_start[s + 1] - needs.gives_start[s]
                if breadth > most:
                    first = s
                    most = breadth
        if n_missing == 0 or not is_obtainable:
            continue
        if own_price > cost_limit:
            too_expensive = True
            continue
        if n_missing > 1:
            for j in range(n_bundles):
                if is_covered(needs, state.bundle[j], k, state):
                    own_gain += state.need[state.bundle[j]]
        if best < 0 or is_better(own_gain, own_price, best_gain, best_price):
            best = first
            best_gain = own_gain
            best_price = own_price
    state.source = best
    return too_expensive


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sum_gains(needs: Needs, state: State) -> Size:
    """Sum the need of the features that lack only one source, by source.

    Features that lack several sources are listed in `state.bundle`; return how many there are.
    """
    k: Size
    j: Size
    s: Size
    n_bundles: Size = 0
    for s in range(state.gain.shape[0]):
        state.gain[s] = 0
    for k in range(state.n_features):
        if state.need[k] > 0:
            n_missing: Size = 0
            source: Size = -1
            for j in range(needs.needs_start[k], needs.needs_start[k + 1]):
                if not state.acquired[needs.needs[j]]:
                    n_missing += 1
                    source = needs.needs[j]
            if n_missing == 1:
                state.gain[source] += state.need[k]
            elif n_missing > 1:
                state.bundle[n_bundles] = cython.cast(int32_t, k)
                n_bundles += 1
    return n_bundles


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_covered(needs: Needs, k: Size, by: Size, state: State) -> cython.bint:
    """Return whether the sources of feature `by` include all missing sources of feature `k`."""
    i: Size
    j: Size
    for i in range(needs.needs_start[k], needs.needs_start[k + 1]):
        if not state.acquired[needs.needs[i]]:
            is_there: cython.bint = False
            for j in range(needs.needs_start[by], needs.needs_start[by + 1]):
                if needs.needs[j] == needs.needs[i]:
                    is_there = True
            if not is_there:
                return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_wanted(needs: Needs, state: State, is_wanted: OutFlags) -> cython.void:
    """Mark the sources that some tree waits for, if all sources of the feature are available."""
    k: Size
    j: Size
    s: Size
    for s in range(is_wanted.shape[0]):
        is_wanted[s] = False
    for k in range(state.n_features):
        if state.n_waiting[k] == 0:
            continue
        is_obtainable: cython.bint = True
        for j in range(needs.needs_start[k], needs.needs_start[k + 1]):
            if not state.is_available[needs.needs[j]]:
                is_obtainable = False
        if is_obtainable:
            for j in range(needs.needs_start[k], needs.needs_start[k + 1]):
                is_wanted[needs.needs[j]] = True
