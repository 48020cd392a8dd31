"""Kernels that acquire sources until an example is decided, for one example or many rows."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from numpy import exp

    from budgetprune.predictor.choice_kernels import Needs, choose, find_wanted
    from budgetprune.predictor.state_kernels import (
        BoundedTrees,
        State,
        StoppingRule,
        advance,
        copy_state,
        set_value,
        start_at_roots,
        waits,
    )
    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        OutChars,
        OutDoubles,
        OutDoubles2,
        OutFlags,
        OutFlags2,
        OutInts,
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
    n_sources : number of sources
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
        n_sources: int,
    ) -> None:
        self.trees = trees
        self.needs = needs
        self.rule = rule
        self.slack = slack
        self.value = value
        self.tree_output = tree_output
        self.base = base
        self.n_features = trees.n_features
        self.n_sources = n_sources
        # The initial state of all examples, with no known feature.
        self.initial = self.new_state()
        start_at_roots(self.trees, self.rule, self.slack, self.initial)

    def new_state(self) -> State:
        """Return a workspace for examples of this model."""
        return State(self.trees, self.rule, self.n_sources, self.base.shape[0])

    def simulate(
        self,
        rows: Doubles2,
        known: Flags,
        acquired: Flags,
        price: Doubles,
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
        state: State = self.new_state()
        origin: State = self.new_state()
        with cython.nogil:
            simulate_rows(
                rows, known, acquired, self, price, cost_limit, origin, state, label, why, has, scores
            )

    def decide(
        self,
        row: Doubles,
        known: Flags,
        acquired: Flags,
        is_available: Flags,
        price: Doubles,
        cost_limit: cython.double,
        state: State,
        order: OutInts,
        is_wanted: OutFlags,
        known_then: OutFlags,
        scores: OutDoubles,
        bounds: OutDoubles2,
    ) -> tuple[int, int, int, bool, int]:
        """Advance one example until `order` is full, and return its results; see `StepResult`.

        `state` is a workspace. The last five arguments are filled in.
        """
        k: Size
        has_known: cython.bint = False
        for k in range(self.n_features):
            if known[k]:
                has_known = True
        if not has_known:
            copy_state(self.initial, state)
        for k in range(self.n_features):
            state.known[k] = known[k]
            set_value(state, k, row[k])
        for k in range(self.n_sources):
            state.acquired[k] = acquired[k]
            state.is_available[k] = is_available[k]
        if has_known:
            start_at_roots(self.trees, self.rule, self.slack, state)
        run(self, price, cost_limit, order.shape[0], state)
        for k in range(state.n_acquired):
            order[k] = state.order[k]
        for k in range(self.n_features):
            known_then[k] = state.known[k]
        find_wanted(self.needs, state, is_wanted)
        sum_scores(self, state)
        for k in range(self.base.shape[0]):
            scores[k] = state.scores[k]
        state.label = possible_label(self, state)
        is_certain: cython.bint = state.why == CERTAIN
        if self.slack > 0:
            start_at_roots(self.trees, self.rule, 0.0, state)
            is_certain = certain_label(self.rule, self.trees.scale, state) != NO_LABEL
        fill_bounds(self.trees, state, bounds)
        return state.label, state.why, state.source, is_certain, state.n_acquired


def bound(row: Doubles, known: Flags, trees: BoundedTrees, rule: StoppingRule) -> NDArray[np.float64]:
    """Compute bounds of sums over trees from known features, of shape (2, n_directions)."""
    state: State = State(trees, rule, 0, 0)
    k: Size
    for k in range(known.shape[0]):
        state.known[k] = known[k]
        set_value(state, k, row[k])
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
        if state.total[0, 0] > rule.high * scale:
            return 1
        return 0 if state.total[1, 0] < rule.low * scale else NO_LABEL
    if rule.kind == LEAD:
        leader: Size = 0
        for k in range(1, state.total.shape[1]):
            if state.total[0, k] > state.total[0, leader]:
                leader = k
        for k in range(state.total.shape[1]):
            if k != leader and not state.total[0, leader] - state.total[1, k] > rule.guard * scale:
                return NO_LABEL
        return leader
    least: cython.double = state.total[0, 0] / (scale * rule.divisor)
    most: cython.double = state.total[1, 0] / (scale * rule.divisor)
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
        bounds[0, k] = state.total[0, k] / trees.scale
        bounds[1, k] = state.total[1, k] / trees.scale


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
        least: cython.double = state.total[0, 0] / decider.trees.scale
        most: cython.double = state.total[1, 0] / decider.trees.scale
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
        least: cython.double = state.total[0, k] / decider.trees.scale
        most: cython.double = state.total[1, k] / decider.trees.scale
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
    known: Flags,
    acquired: Flags,
    decider: Decider,
    price: Doubles,
    cost_limit: cython.double,
    origin: State,
    state: State,
    label: OutLongs,
    why: OutChars,
    has: OutFlags2,
    scores: OutDoubles2,
) -> cython.void:
    """Implement `Decider.simulate`; `origin` and `state` are workspaces."""
    i: Size
    k: Size
    # All rows start from the same state.
    are_alike: cython.bint = True
    for k in range(decider.n_features):
        origin.known[k] = known[k]
        if known[k]:
            are_alike = False
    for k in range(decider.n_sources):
        origin.acquired[k] = acquired[k]
    for i in range(rows.shape[0]):
        for k in range(decider.n_features):
            set_value(origin, k, rows[i, k])
            set_value(state, k, rows[i, k])
        if i == 0 or not are_alike:
            start_at_roots(decider.trees, decider.rule, decider.slack, origin)
        copy_state(origin, state)
        run(decider, price, cost_limit, decider.n_sources, state)
        for k in range(decider.n_sources):
            has[i, k] = state.acquired[k]
        sum_scores(decider, state)
        for k in range(decider.base.shape[0]):
            scores[i, k] = state.scores[k]
        label[i] = possible_label(decider, state)
        why[i] = cython.cast(int8_t, state.why)
