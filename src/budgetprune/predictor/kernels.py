"""Kernels that acquire sources until an example is decided, for one example or many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.predictor.choice import choose, find_wanted
from budgetprune.predictor.rules import CUT, LEAD, NARROW, StoppingRule
from budgetprune.predictor.state import State, advance, copy_state, new_state, start_at_roots
from budgetprune.predictor.tables import BoundedTrees, Sources
from budgetprune.utils.jit import njit

# Reasons to stop, returned by `run` with the label.
WAITING, CERTAIN, COMPLETE, TOO_EXPENSIVE, UNAVAILABLE, STOPPED = range(6)
NO_LABEL = -1


# --- Decision -----------------------------------------------------------------------------------------------


@njit(cache=True)
def certain_label(rule: StoppingRule, total: NDArray[np.int64], scale: float) -> int:
    """Return the index of the label that is certain, else -1; 0 for a target within the tolerance."""
    if rule.kind == CUT:
        if total[0, 0] > rule.high * scale:
            return 1
        return 0 if total[1, 0] < rule.low * scale else NO_LABEL
    if rule.kind == LEAD:
        leader = int(np.argmax(total[0]))
        for k in range(total.shape[1]):
            if k != leader and not total[0, leader] - total[1, k] > rule.guard * scale:
                return NO_LABEL
        return leader
    least, most = total[0, 0] / (scale * rule.divisor), total[1, 0] / (scale * rule.divisor)
    if rule.is_exponential:
        least, most = np.exp(least), np.exp(most)
    return 0 if most - least <= rule.width else NO_LABEL


# --- One example, and many ----------------------------------------------------------------------------------


@njit(cache=True)
def receive(s: Any, sources: Sources, state: State) -> Any:
    """Acquire a source: features that lack no other source become known. Return their marks."""
    state.acquired[s] = True
    marks = np.uint64(0)
    for k in sources.gives[sources.gives_start[s] : sources.gives_start[s + 1]]:
        is_known = True
        for other in sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]:
            is_known &= state.acquired[other]
        if is_known:
            state.known[k] = True
            marks |= np.uint64(1) << np.uint64(k & 63)
    return marks


@njit(cache=True)
def decide_or_choose(
    trees: BoundedTrees, sources: Sources, rule: StoppingRule, cost_limit: float, state: State
) -> tuple[int, int, int]:
    """Decide an up-to-date state, or choose the next source.

    Returns
    -------
    label : index of the label if it is certain, else -1
    why : WAITING, or the reason to stop
    source : the next source, -1 if it stops
    """
    label, too_expensive = certain_label(rule, state.total, trees.scale), False
    if label == NO_LABEL:
        source, too_expensive = choose(sources, cost_limit, state)
        if source >= 0:
            return NO_LABEL, WAITING, source
    if not state.n_window.any():
        return NO_LABEL, COMPLETE, -1
    if label != NO_LABEL:
        return label, CERTAIN, -1
    return NO_LABEL, TOO_EXPENSIVE if too_expensive else UNAVAILABLE, -1


@njit(cache=True)
def run(
    row: NDArray[Any],
    trees: BoundedTrees,
    sources: Sources,
    rule: StoppingRule,
    slack: float,
    cost_limit: float,
    order: NDArray[np.int32],
    state: State,
) -> tuple[int, int, int, int]:
    """Acquire sources until it is decided, or until `order` is full; `row` has all values.

    `state` must be up to date (see `advance`).

    Returns
    -------
    label, why, source : see `decide_or_choose`
    n_acquired : number of entries written to `order`: the acquired sources
    """
    n_acquired = 0
    while True:
        label, why, source = decide_or_choose(trees, sources, rule, cost_limit, state)
        if why != WAITING or n_acquired == order.size:
            return label, why, source, n_acquired
        order[n_acquired] = source
        n_acquired += 1
        cost_limit -= sources.price[source]
        advance(receive(source, sources, state), row, trees, rule, slack, state)


@njit(cache=True)
def current_scores(
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
    rule: StoppingRule,
    scale: float,
    state: State,
    scores: NDArray[np.float64],
) -> None:
    """Sum the values of the current nodes, in the order of the trees, as `sum_values` does.

    Values of inner nodes of boosted trees may lie outside those of their leaves; a target is clipped.
    """
    node = state.node
    scores[:] = base
    for t in range(node.size):
        if tree_output[t] < 0:
            for k in range(base.size):
                scores[k] += value[node[t], k]
        else:
            scores[tree_output[t]] += value[node[t], 0]
    if rule.kind == NARROW and state.n_window.any():
        scores[0] = min(max(scores[0], state.total[0, 0] / scale), state.total[1, 0] / scale)


@njit(cache=True)
def possible_label(
    label: int, why: int, rule: StoppingRule, scale: float, scores: NDArray[np.float64], state: State
) -> int:
    """Guess a class among those that the bounds of the scores do not exclude, if none is certain."""
    if rule.kind != LEAD or label != NO_LABEL or why == COMPLETE:
        return label
    best, best_score = 0, -np.inf
    for k in range(scores.size):
        score = min(max(scores[k], state.total[0, k] / scale), state.total[1, k] / scale)
        if score > best_score:
            best, best_score = k, score
    return best


@njit(cache=True, nogil=True)
def simulate_rows(
    rows: NDArray[Any],
    known: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
    trees: BoundedTrees,
    sources: Sources,
    rule: StoppingRule,
    slack: float,
    cost_limit: float,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
    label: NDArray[np.int64],
    why: NDArray[np.int8],
    has: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> None:
    """Simulate the acquisition of each row.

    Parameters
    ----------
    known, acquired : features and sources that all rows have from the start
    label, why : filled in for each row, see `decide_or_choose`
    has : filled in, bool array of shape (n_rows, n_sources)
    scores : filled in, of shape (n_rows, n_outputs), sums over the last nodes reached; not divided
    """
    state = new_state(trees, rule, rows.shape[1], sources.price.size)
    initial = new_state(trees, rule, rows.shape[1], sources.price.size)
    initial.known[:] = known
    initial.acquired[:] = acquired
    order = np.empty(sources.price.size, dtype=np.int32)
    # All rows start from the same state.
    are_alike = not known.any()
    for i in range(rows.shape[0]):
        if i == 0 or not are_alike:
            start_at_roots(rows[i], trees, rule, slack, initial)
        copy_state(initial, state)
        label[i], why[i], _, _ = run(rows[i], trees, sources, rule, slack, cost_limit, order, state)
        has[i] = state.acquired
        current_scores(value, tree_output, base, rule, trees.scale, state, scores[i])
        label[i] = possible_label(label[i], why[i], rule, trees.scale, scores[i], state)


@njit(cache=True)
def decide_one(
    row: NDArray[Any],
    known: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
    is_available: NDArray[np.bool_],
    trees: BoundedTrees,
    sources: Sources,
    rule: StoppingRule,
    slack: float,
    cost_limit: float,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
    initial: State,
    order: NDArray[np.int32],
    is_wanted: NDArray[np.bool_],
    known_then: NDArray[np.bool_],
    scores: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> tuple[int, int, int, bool, int]:
    """Advance one example until `order` is full, and return its results; see `StepResult`.

    `initial` is the initial state of all examples, with no known value. The last five arguments are filled,
    because numba takes longer to return new arrays.
    """
    state = new_state(trees, rule, known.size, acquired.size)
    nothing_known = not known.any()
    if nothing_known:
        copy_state(initial, state)
    state.known[:] = known
    state.acquired[:] = acquired
    state.is_available[:] = is_available
    if not nothing_known:
        start_at_roots(row, trees, rule, slack, state)
    label, why, source, n_acquired = run(row, trees, sources, rule, slack, cost_limit, order, state)
    known_then[:] = state.known
    find_wanted(sources, state, is_wanted)
    current_scores(value, tree_output, base, rule, trees.scale, state, scores)
    label = possible_label(label, why, rule, trees.scale, scores, state)
    is_certain = why == CERTAIN
    if slack > 0:
        start_at_roots(row, trees, rule, 0.0, state)
        is_certain = certain_label(rule, state.total, trees.scale) != NO_LABEL
    bounds[:] = state.total / trees.scale
    return label, why, source, is_certain, n_acquired


@njit(cache=True)
def bound(
    row: NDArray[Any], known: NDArray[np.bool_], trees: BoundedTrees, rule: StoppingRule
) -> NDArray[np.float64]:
    """Compute bounds of sums over trees from known features, of shape (2, n_directions)."""
    state = new_state(trees, rule, known.size, 0)
    state.known[:] = known
    start_at_roots(row, trees, rule, 0.0, state)
    return state.total / trees.scale
