"""Kernels that acquire sources until an example is decided, for one example or many rows."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from numpy import exp

    from budgetprune.predictor.advance_kernels import advance, start_at_roots
    from budgetprune.predictor.choice_kernels import Needs, choose, find_wanted
    from budgetprune.predictor.state_kernels import (
        BoundedTrees,
        State,
        StoppingRule,
        copy_state,
        set_values,
        waits,
    )
    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        OutChars,
        OutDoubles2,
        OutFlags2,
        OutLongs,
        Size,
        int8_t,
        uint64_t,
    )

    CUT, LEAD, NARROW = range(3)
    WAITING, CERTAIN, COMPLETE, TOO_EXPENSIVE, UNAVAILABLE, STOPPED = range(6)
    NO_LABEL = -1


class Decider:
    """Everything that decisions of one model have in common.

    Parameters
    ----------
    trees, needs, rule, slack : see there
    value, tree_output, base : as in `Forest`
    price : of each source
    known, acquired : features and sources that are free
    """

    def __init__(
        self,
        trees: BoundedTrees,
        needs: Needs,
        rule: StoppingRule,
        slack: float,
        value: NDArray[np.float64],
        tree_output: NDArray[np.int32],
        base: NDArray[np.float64],
        price: NDArray[np.float64],
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
    ) -> None:
        self.trees = trees
        self.needs = needs
        self.rule = rule
        self.slack = slack
        self.value = value
        self.tree_output = tree_output
        self.base = base
        self.n_features = trees.n_features
        self.n_sources = price.size
        self.price = price
        # States of all examples: with nothing, and with what is free.
        self.initial = self.new_state()
        start_at_roots(self.trees, self.rule, self.slack, self.initial)
        self.start = self.new_state()
        copy_state(self.initial, self.start)
        self.is_some_known = mark(known, acquired, self, self.start)

    def new_state(self) -> State:
        """Return a workspace for examples of this model."""
        return State(self.trees, self.rule, self.n_sources, self.base.shape[0])

    def simulate(
        self,
        rows: Doubles2,
        known: Flags,
        acquired: Flags,
        cost_limit: cython.double,
        label: OutLongs,
        why: OutChars,
        has: OutFlags2,
        scores: OutDoubles2,
    ) -> None:
        """Simulate the acquisition of each row.

        Parameters
        ----------
        known, acquired : features and sources that all rows have from the start
        label, why : filled in for each row, see `decide_or_choose`
        has : filled in, bool array of shape (n_rows, n_sources)
        scores : filled in, of shape (n_rows, n_outputs), sums over the last nodes reached; not divided
        """
        origin: State = self.new_state()
        state: State = self.new_state()
        copy_state(self.initial, origin)
        is_some_known: cython.bint = mark(known, acquired, self, origin)
        with cython.nogil:
            simulate_rows(rows, is_some_known, self, cost_limit, origin, state, label, why, has, scores)

    def finish(self, row: Doubles, cost_limit: cython.double, state: State) -> tuple[Any, ...]:
        """Decide an example whose values are all in `row`; what costs nothing is known from the start.

        `state` is a workspace. See `StepResult` for the results.
        """
        copy_state(self.start, state)
        set_values(row, state)
        if self.is_some_known:
            start_at_roots(self.trees, self.rule, self.slack, state)
        run(self, self.price, cost_limit, self.n_sources, state)
        found: tuple[Any, ...] = results(self, state)
        return found

    def step(
        self,
        row: Doubles,
        known: Flags,
        acquired: Flags,
        is_available: Flags,
        price: Doubles,
        cost_limit: cython.double,
        state: State,
    ) -> tuple[Any, ...]:
        """Decide an example from known values, or choose its next source.

        `state` is a workspace. See `StepResult` for the results.
        """
        k: Size
        copy_state(self.initial, state)
        set_values(row, state)
        for k in range(self.n_sources):
            state.is_available[k] = is_available[k]
        if mark(known, acquired, self, state):
            start_at_roots(self.trees, self.rule, self.slack, state)
        run(self, price, cost_limit, 0, state)
        found: tuple[Any, ...] = results(self, state)
        return found


@cython.cfunc
@cython.exceptval(check=False)
def mark(known: Flags, acquired: Flags, decider: Decider, state: State) -> cython.bint:
    """Mark known features and acquired sources in a state; return whether any feature is known."""
    k: Size
    is_some_known: cython.bint = False
    for k in range(decider.n_features):
        state.known[k] = known[k]
        if known[k]:
            is_some_known = True
    for k in range(decider.n_sources):
        state.acquired[k] = acquired[k]
    return is_some_known


@cython.cfunc
def results(decider: Decider, state: State) -> tuple[Any, ...]:
    """Return the fields of `StepResult` for a state after `run`."""
    sum_scores(decider, state)
    state.label = possible_label(decider, state)
    is_certain: cython.bint = state.why == CERTAIN
    is_wanted = np.empty(decider.n_sources, dtype=np.bool_)
    find_wanted(decider.needs, state, is_wanted)
    if decider.slack > 0:
        start_at_roots(decider.trees, decider.rule, 0.0, state)
        is_certain = certain_label(decider.rule, decider.trees.scale, state) != NO_LABEL
    fill_bounds(decider.trees, state, state.final_bounds)
    order = []
    j: Size
    for j in range(state.n_acquired):
        order.append(state.order[j])  # noqa: PERF401 (a comprehension is slower when compiled)
    return (
        state.label,
        state.why,
        state.source,
        is_certain,
        order,
        is_wanted,
        state.known_array.copy(),
        state.score_array.copy(),
        state.bound_array.copy(),
    )


def bound(row: Doubles, known: Flags, trees: BoundedTrees, rule: StoppingRule) -> NDArray[np.float64]:
    """Compute bounds of sums over trees from known features, of shape (2, n_directions)."""
    state: State = State(trees, rule, 0, 0)
    k: Size
    for k in range(known.shape[0]):
        state.known[k] = known[k]
    set_values(row, state)
    start_at_roots(trees, rule, 0.0, state)
    bounds = np.empty((2, trees.n_directions))
    fill_bounds(trees, state, bounds)
    return bounds


# --- Decision -----------------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def certain_label(rule: StoppingRule, scale: cython.double, state: State) -> Size:
    """Return the index of the label that is certain, else -1; 0 for a target within the tolerance."""
    k: Size
    if rule.kind == CUT:
        if state.least[0] > rule.high * scale:
            return 1
        return 0 if state.most[0] < rule.low * scale else NO_LABEL
    if rule.kind == LEAD:
        leader: Size = 0
        for k in range(1, state.least.shape[0]):
            if state.least[k] > state.least[leader]:
                leader = k
        for k in range(state.least.shape[0]):
            if k != leader and not state.least[leader] - state.most[k] > rule.guard * scale:
                return NO_LABEL
        return leader
    least: cython.double = state.least[0] / (scale * rule.divisor)
    most: cython.double = state.most[0] / (scale * rule.divisor)
    if rule.is_exponential:
        least = exp(least)
        most = exp(most)
    return 0 if most - least <= rule.width else NO_LABEL


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def fill_bounds(trees: BoundedTrees, state: State, bounds: OutDoubles2) -> cython.void:
    """Fill in the bounds of sums over trees, by direction, without padding."""
    k: Size
    for k in range(bounds.shape[1]):
        bounds[0, k] = state.least[k] / trees.scale
        bounds[1, k] = state.most[k] / trees.scale


# --- One example, and many ----------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def receive(s: Size, needs: Needs, state: State) -> uint64_t:
    """Acquire a source: features that lack no other source become known. Return their marks."""
    i: Size
    j: Size
    marks: uint64_t = 0
    state.acquired[s] = True
    for i in range(needs.gives_start[s], needs.gives_start[s + 1]):
        k: Size = needs.gives[i]
        is_known: cython.bint = True
        for j in range(needs.needs_start[k], needs.needs_start[k + 1]):
            if not state.acquired[needs.needs[j]]:
                is_known = False
        if is_known:
            state.known[k] = True
            marks |= cython.cast(uint64_t, 1) << cython.cast(Size, k & 63)
    return marks


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def decide_or_choose(
    decider: Decider, price: Doubles, cost_limit: cython.double, state: State
) -> cython.void:
    """Decide an up-to-date state, or choose the next source.

    Results are stored in the state:

    label : index of the label if it is certain, else -1
    why : WAITING, or the reason to stop
    source : the next source, -1 if it stops
    """
    label: Size = certain_label(decider.rule, decider.trees.scale, state)
    too_expensive: cython.bint = False
    state.label = NO_LABEL
    state.source = -1
    if label == NO_LABEL:
        too_expensive = choose(decider.needs, price, cost_limit, state)
        if state.source >= 0:
            state.why = WAITING
            return
    if not waits(state):
        state.why = COMPLETE
    elif label != NO_LABEL:
        state.label = label
        state.why = CERTAIN
    else:
        state.why = TOO_EXPENSIVE if too_expensive else UNAVAILABLE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run(
    decider: Decider, price: Doubles, cost_limit: cython.double, n_steps: Size, state: State
) -> cython.void:
    """Acquire sources until it is decided, or until `n_steps` are acquired, which `state.order` lists.

    `state` must be up to date (see `advance`), and its row have all values.
    """
    state.n_acquired = 0
    while True:
        decide_or_choose(decider, price, cost_limit, state)
        if state.why != WAITING or state.n_acquired == n_steps:
            return
        state.order[state.n_acquired] = state.source
        state.n_acquired += 1
        cost_limit -= price[state.source]
        marks: uint64_t = receive(state.source, decider.needs, state)
        advance(marks, decider.trees, decider.rule, decider.slack, state)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sum_scores(decider: Decider, state: State) -> cython.void:
    """Sum the values of the current nodes, in the order of the trees, as `sum_values` does.

    Values of inner nodes of boosted trees may lie outside those of their leaves; a target is clipped.
    """
    k: Size
    t: Size
    for k in range(decider.base.shape[0]):
        state.scores[k] = decider.base[k]
    for t in range(state.node.shape[0]):
        h: Size = decider.trees.origin[state.node[t]]
        if decider.tree_output[t] < 0:
            for k in range(decider.base.shape[0]):
                state.scores[k] += decider.value[h, k]
        else:
            state.scores[decider.tree_output[t]] += decider.value[h, 0]
    if decider.rule.kind == NARROW and waits(state):
        least: cython.double = state.least[0] / decider.trees.scale
        most: cython.double = state.most[0] / decider.trees.scale
        state.scores[0] = min(max(state.scores[0], least), most)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def possible_label(decider: Decider, state: State) -> Size:
    """Guess a class among those that the bounds of the scores do not exclude, if none is certain."""
    k: Size
    if decider.rule.kind != LEAD or state.label != NO_LABEL or state.why == COMPLETE:
        return state.label
    best: Size = 0
    best_score: cython.double = 0.0
    for k in range(decider.base.shape[0]):
        least: cython.double = state.least[k] / decider.trees.scale
        most: cython.double = state.most[k] / decider.trees.scale
        score: cython.double = min(max(state.scores[k], least), most)
        if k == 0 or score > best_score:
            best = k
            best_score = score
    return best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def simulate_rows(
    rows: Doubles2,
    is_some_known: cython.bint,
    decider: Decider,
    cost_limit: cython.double,
    origin: State,
    state: State,
    label: OutLongs,
    why: OutChars,
    has: OutFlags2,
    scores: OutDoubles2,
) -> cython.void:
    """Implement `Decider.simulate`; `origin` marks what is known, and `state` is a workspace."""
    i: Size
    k: Size
    for i in range(rows.shape[0]):
        set_values(rows[i], state)
        if is_some_known:
            set_values(rows[i], origin)
            start_at_roots(decider.trees, decider.rule, decider.slack, origin)
        copy_state(origin, state)
        run(decider, decider.price, cost_limit, decider.n_sources, state)
        for k in range(decider.n_sources):
            has[i, k] = state.acquired[k]
        sum_scores(decider, state)
        for k in range(decider.base.shape[0]):
            scores[i, k] = state.scores[k]
        label[i] = possible_label(decider, state)
        why[i] = cython.cast(int8_t, state.why)
