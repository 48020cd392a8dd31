"""One example, source after source: where its trees stand, what is still possible, and what to ask for next.

Nothing here depends on how the known values came to be known, so asking step by step, in any order, and
replaying a row of a table reach the same states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from budgetprune.forest._routing import goes_left
from budgetprune.predictor._aim import CUT, LEAD, NARROW, Rule
from budgetprune.predictor._tables import Sources, Trees

# How many unknown splits a tree looks past. Beyond them it may meet known features again, which exclude
# leaves: two levels save a tenth of the cost, four hardly more (benchmarks/early.py measures it).
DEPTH = 2
WINDOW = 2 ** (DEPTH + 1) - 1

# Rows that a thread takes at once.
BLOCK = 64

# Why an example stops; what `run` returns beside the label.
WAITING, CERTAIN, COMPLETE, TOO_EXPENSIVE, UNAVAILABLE = range(5)
NO_LABEL = -1


class State(NamedTuple):
    """What is known about one example, and scratch memory."""

    known: NDArray[np.bool_]  # by feature
    acquired: NDArray[np.bool_]  # by source
    is_available: NDArray[np.bool_]  # by source
    node: NDArray[np.int64]  # where each tree stands: at a leaf, or at the first split on an unknown feature
    lower: NDArray[np.float64]  # of what each tree can still answer, by direction
    upper: NDArray[np.float64]
    n_window: NDArray[
        np.int64
    ]  # splits on unknown features in the window below each tree's node, 0 at a leaf
    window_feature: NDArray[np.int32]
    window_share: NDArray[np.float64]  # how probable it is to meet them
    marks: NDArray[np.uint64]  # of the features in each tree's window: bit `k % 64` for feature k
    queue: NDArray[np.int64]
    total_lower: NDArray[np.float64]  # by direction
    total_upper: NDArray[np.float64]
    is_awaited: NDArray[np.bool_]  # by feature: some tree stands at it
    need: NDArray[np.float64]  # by feature
    gain: NDArray[np.float64]  # by source
    bundle: NDArray[np.int32]  # features that miss several sources


@njit(cache=True)
def new_state(trees: Trees, n_features: int, n_sources: int) -> State:
    n_trees, n_columns, n_directions = trees.start.size - 1, trees.lower.shape[1], trees.base.size
    return State(
        np.zeros(n_features, dtype=np.bool_),
        np.zeros(n_sources, dtype=np.bool_),
        np.ones(n_sources, dtype=np.bool_),
        np.empty(n_trees, dtype=np.int64),
        np.empty((n_trees, n_columns)),
        np.empty((n_trees, n_columns)),
        np.zeros(n_trees, dtype=np.int64),
        np.empty((n_trees, WINDOW), dtype=np.int32),
        np.empty((n_trees, WINDOW)),
        np.empty(n_trees, dtype=np.uint64),
        np.empty(WINDOW, dtype=np.int64),
        np.empty(n_directions),
        np.empty(n_directions),
        np.empty(n_features, dtype=np.bool_),
        np.empty(n_features),
        np.empty(n_sources),
        np.empty(n_features, dtype=np.int32),
    )


# --- Where trees stand --------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def advance(h: Any, row: NDArray[Any], known: NDArray[np.bool_], trees: Trees) -> Any:
    """Go down from node `h` as far as known features lead."""
    while trees.feature[h] >= 0 and known[trees.feature[h]]:
        if goes_left(
            row[trees.feature[h]],
            h,
            trees.threshold,
            trees.missing_left,
            trees.category_set,
            trees.category_start,
            trees.category_bits,
            trees.zero_is_missing,
        ):
            h += 1
        else:
            h = np.int64(trees.right[h])
    return h


@njit(cache=True)
def look(t: int, row: NDArray[Any], trees: Trees, state: State) -> None:
    """Let tree `t` advance from where it stands, and bound what it can still answer.

    Below an unknown split both sides are possible; on each, known features lead further down. The leaves that
    can still be reached from there on bound the answer::

            unknown            in the window: 1 + 2 + 4 splits, less where leaves come early
            ╱     ╲
         known   unknown       known splits are passed, and exclude what is on their other side
           ╲      ╱    ╲
        unknown  leaf  unknown
    """
    lower, upper, queue, share = state.lower[t], state.upper[t], state.queue, state.window_share[t]
    lower[:], upper[:] = np.inf, -np.inf
    state.node[t] = queue[0] = advance(state.node[t], row, state.known, trees)
    share[0] = 1.0
    marks, n_splits, n_queued, place, level_end = np.uint64(0), 0, 1, 0, 1
    level = 0
    # The queue holds nodes level by level; splits among them move to the front, where the window is.
    while place < n_queued:
        if place == level_end:
            level, level_end = level + 1, n_queued
        h, probability = queue[place], share[place]
        place += 1
        k = trees.feature[h]
        if k < 0 or level == DEPTH:
            for d in range(lower.size):
                lower[d] = min(lower[d], trees.lower[h, d])
                upper[d] = max(upper[d], trees.upper[h, d])
        else:
            queue[n_queued] = advance(h + 1, row, state.known, trees)
            queue[n_queued + 1] = advance(np.int64(trees.right[h]), row, state.known, trees)
            share[n_queued] = probability * trees.share_left[h]
            share[n_queued + 1] = probability - share[n_queued]
            n_queued += 2
        if k >= 0:
            state.window_feature[t, n_splits] = k
            share[n_splits] = probability
            n_splits += 1
            marks |= np.uint64(1) << np.uint64(k & 63)
    state.n_window[t] = n_splits
    state.marks[t] = marks


# --- Is it decided? -----------------------------------------------------------------------------------------


@njit(cache=True)
def add_up(trees: Trees, slack: float, state: State) -> None:
    """Add up what all trees can still answer, direction by direction; slack takes a share off both ends."""
    state.total_lower[:] = trees.base
    state.total_upper[:] = trees.base
    for t in range(state.node.size):
        for d in range(state.lower.shape[1]):
            lower, upper = state.lower[t, d], state.upper[t, d]
            taken = slack * (upper - lower)
            k = d if trees.direction[t] < 0 else trees.direction[t]
            state.total_lower[k] += lower + taken
            state.total_upper[k] += upper - taken


@njit(cache=True)
def certain_label(rule: Rule, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> int:
    """The label that nothing can change any more, by its number; 0 for a target that is known well enough."""
    if rule.kind == CUT:
        if lower[0] > rule.high:
            return 1
        return 0 if upper[0] < rule.low else NO_LABEL
    if rule.kind == LEAD:
        leader = int(np.argmax(lower))
        for k in range(lower.size):
            if k != leader and not lower[leader] > upper[k] + rule.guard:
                return NO_LABEL
        return leader
    least, most = lower[0] / rule.divisor, upper[0] / rule.divisor
    if rule.is_exponential:
        least, most = np.exp(least), np.exp(most)
    return 0 if most - least <= rule.width else NO_LABEL


# --- What next? ---------------------------------------------------------------------------------------------


@njit(cache=True)
def count_needs(state: State) -> bool:
    """Find out which features the trees will need soon, and how much is at stake; False if none is.

    A tree needs the features in its window as probably as it meets them, and what is at stake is the range of
    what it can still answer.
    """
    state.is_awaited[:] = False
    state.need[:] = 0.0
    any_awaited = False
    for t in range(state.node.size):
        if state.n_window[t] == 0:
            continue
        any_awaited = True
        state.is_awaited[state.window_feature[t, 0]] = True
        stake = 0.0
        for d in range(state.lower.shape[1]):
            stake += state.upper[t, d] - state.lower[t, d]
        for j in range(state.n_window[t]):
            state.need[state.window_feature[t, j]] += stake * state.window_share[t, j]
    return any_awaited


@njit(cache=True)
def choose(sources: Sources, money: float, state: State) -> tuple[int, bool]:
    """Choose the next source: the greatest need per unit of cost, among what some tree stands at.

    So no source is bought that the plain forest would not buy as well. A feature may miss several sources;
    then what they cost together is compared with what they make known together, and the one that most
    features need comes first.

    Returns
    -------
    source : the number of the next one, -1 if none can be had
    too_expensive : whether one could be had for more money
    """
    state.gain[:] = 0.0
    n_bundles = 0
    for k in range(state.need.size):
        if state.need[k] > 0:
            n_missing, source = 0, -1
            for s in sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]:
                if not state.acquired[s]:
                    n_missing, source = n_missing + 1, s
            if n_missing == 1:
                state.gain[source] += state.need[k]
            else:
                state.bundle[n_bundles] = k
                n_bundles += 1
    best, best_gain, best_price, too_expensive = -1, 0.0, 0.0, False
    for k in range(state.need.size):
        if not state.is_awaited[k]:
            continue
        price, gain, first, n_missing, is_available = 0.0, 0.0, -1, 0, True
        for s in sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]:
            if not state.acquired[s]:
                price += sources.price[s]
                gain += state.gain[s]
                n_missing += 1
                is_available &= state.is_available[s]
                if first < 0 or breadth(sources, s) > breadth(sources, first):
                    first = s
        if not is_available or n_missing == 0:
            continue
        if price > money:
            too_expensive = True
            continue
        if n_missing > 1:
            for j in range(n_bundles):
                if is_covered(sources, state.bundle[j], k, state.acquired):
                    gain += state.need[state.bundle[j]]
        is_equal = gain * best_price == best_gain * price
        if best < 0 or gain * best_price > best_gain * price or (is_equal and price < best_price):
            best, best_gain, best_price = first, gain, price
    return best, too_expensive


@njit(cache=True, inline="always")
def breadth(sources: Sources, s: Any) -> Any:
    """How many features need a source."""
    return sources.gives_start[s + 1] - sources.gives_start[s]


@njit(cache=True)
def is_covered(sources: Sources, k: Any, by: Any, acquired: NDArray[np.bool_]) -> bool:
    """Does whoever acquires all that feature `by` needs have all that feature `k` needs?"""
    for s in sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]:
        if not acquired[s]:
            is_there = False
            for other in sources.needs[sources.needs_start[by] : sources.needs_start[by + 1]]:
                is_there |= other == s
            if not is_there:
                return False
    return True


@njit(cache=True)
def receive(s: Any, sources: Sources, state: State) -> Any:
    """Acquire a source: features that miss no other become known. Returns their marks."""
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


# --- One example, and many ----------------------------------------------------------------------------------


@njit(cache=True)
def survey(
    trees: Trees, sources: Sources, rule: Rule, slack: float, money: float, state: State
) -> tuple[int, int, int]:
    """Judge a state whose trees have looked: decided, or which source next?

    Returns
    -------
    label : its number if it is certain, else -1
    why : WAITING, or why it stops
    source : the next one, -1 if it stops
    """
    add_up(trees, slack, state)
    any_awaited = count_needs(state)
    if not any_awaited:
        return NO_LABEL, COMPLETE, -1
    label = certain_label(rule, state.total_lower, state.total_upper)
    if label != NO_LABEL:
        return label, CERTAIN, -1
    source, too_expensive = choose(sources, money, state)
    if source >= 0:
        return NO_LABEL, WAITING, source
    return NO_LABEL, TOO_EXPENSIVE if too_expensive else UNAVAILABLE, -1


@njit(cache=True)
def run(
    row: NDArray[Any],
    trees: Trees,
    sources: Sources,
    rule: Rule,
    slack: float,
    money: float,
    order: NDArray[np.int32],
    state: State,
) -> tuple[int, int, int, int]:
    """Acquire source after source until it is decided, or until `order` is full; `row` has all their values.

    Returns
    -------
    label, why, source : see `survey`
    n_acquired : how many entries of `order` were written: the sources, one after the other
    """
    n_acquired = 0
    for t in range(trees.start.size - 1):
        state.node[t] = trees.start[t]
        look(t, row, trees, state)
    while True:
        label, why, source = survey(trees, sources, rule, slack, money, state)
        if why != WAITING or n_acquired == order.size:
            return label, why, source, n_acquired
        order[n_acquired] = source
        n_acquired += 1
        money -= sources.price[source]
        marks = receive(source, sources, state)
        for t in range(state.node.size):
            if state.marks[t] & marks:
                look(t, row, trees, state)


@njit(cache=True)
def standing_scores(
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
    rule: Rule,
    state: State,
    scores: NDArray[np.float64],
) -> None:
    """Add up what the trees answer where they stand, in their order, as `sum_values` does.

    Inner nodes of boosted trees may answer what no leaf below them does; a target stays between its bounds.
    """
    node = state.node
    scores[:] = base
    for t in range(node.size):
        if tree_output[t] < 0:
            for k in range(base.size):
                scores[k] += value[node[t], k]
        else:
            scores[tree_output[t]] += value[node[t], 0]
    if rule.kind == NARROW:
        scores[0] = min(max(scores[0], state.total_lower[0]), state.total_upper[0])


@njit(cache=True, parallel=True)
def replay(
    rows: NDArray[Any],
    known: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
    trees: Trees,
    sources: Sources,
    rule: Rule,
    slack: float,
    money: float,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.bool_], NDArray[np.float64]]:
    """Acquire for every row what it would have acquired.

    Parameters
    ----------
    known, acquired : features and sources that all rows have from the start

    Returns
    -------
    label, why : of each row, see `survey`
    has : bool array of shape (n_rows, n_sources)
    scores : float64 array of shape (n_rows, n_outputs), where the trees stood in the end; not divided
    """
    n_rows, n_sources = rows.shape[0], sources.price.size
    label = np.empty(n_rows, dtype=np.int64)
    why = np.empty(n_rows, dtype=np.int8)
    has = np.empty((n_rows, n_sources), dtype=np.bool_)
    scores = np.empty((n_rows, base.size))
    for block in prange((n_rows + BLOCK - 1) // BLOCK):
        first, last = block * BLOCK, min(n_rows, (block + 1) * BLOCK)
        # A kernel of its own: numba would take the state out of a parallel loop, and share it between rows.
        replay_block(
            rows[first:last],
            known,
            acquired,
            trees,
            sources,
            rule,
            slack,
            money,
            value,
            tree_output,
            base,
            label[first:last],
            why[first:last],
            has[first:last],
            scores[first:last],
        )
    return label, why, has, scores


@njit(cache=True)
def replay_block(
    rows: NDArray[Any],
    known: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
    trees: Trees,
    sources: Sources,
    rule: Rule,
    slack: float,
    money: float,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
    label: NDArray[np.int64],
    why: NDArray[np.int8],
    has: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> None:
    """Replay some rows, one after the other; results go into the last four arguments."""
    state = new_state(trees, rows.shape[1], sources.price.size)
    order = np.empty(sources.price.size, dtype=np.int32)
    for i in range(rows.shape[0]):
        state.known[:] = known
        state.acquired[:] = acquired
        label[i], why[i], _, _ = run(rows[i], trees, sources, rule, slack, money, order, state)
        has[i] = state.acquired
        add_up(trees, 0.0, state)
        standing_scores(value, tree_output, base, rule, state, scores[i])


@njit(cache=True)
def decide_one(
    row: NDArray[Any],
    known: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
    is_available: NDArray[np.bool_],
    n_steps: int,
    trees: Trees,
    by_output: Trees,
    sources: Sources,
    rule: Rule,
    slack: float,
    money: float,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
) -> tuple[
    int,
    int,
    int,
    bool,
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]:
    """Take one example at most `n_steps` further, and tell all about it.

    Parameters
    ----------
    by_output : the same trees, with the scores themselves as directions

    Returns
    -------
    label, why, source : see `survey`
    is_certain : whether the label is certain without slack too
    order : the sources that were acquired, one after the other
    is_wanted : bool array of shape (n_sources,): some tree stands at a feature that needs it and can be had
    scores, lower, upper : where the trees stand, and the bounds of where they can go, by output; not divided
    """
    state = new_state(trees, known.size, acquired.size)
    state.known[:] = known
    state.acquired[:] = acquired
    state.is_available[:] = is_available
    order = np.empty(n_steps, dtype=np.int32)
    label, why, source, n_acquired = run(row, trees, sources, rule, slack, money, order, state)
    add_up(trees, 0.0, state)
    is_certain = certain_label(rule, state.total_lower, state.total_upper) != NO_LABEL
    is_wanted = np.zeros(acquired.size, dtype=np.bool_)
    for k in np.flatnonzero(state.is_awaited):
        needs = sources.needs[sources.needs_start[k] : sources.needs_start[k + 1]]
        can_be_had = True
        for s in needs:
            can_be_had &= is_available[s]
        for s in needs:
            is_wanted[s] |= can_be_had
    scores = np.empty(by_output.base.size)
    standing_scores(value, tree_output, by_output.base, rule, state, scores)
    bounds = new_state(by_output, known.size, acquired.size)
    bounds.known[:] = state.known
    for t in range(state.node.size):
        bounds.node[t] = state.node[t]
        look(t, row, by_output, bounds)
    add_up(by_output, 0.0, bounds)
    return (
        label,
        why,
        source,
        is_certain,
        order[:n_acquired],
        is_wanted,
        scores,
        bounds.total_lower,
        bounds.total_upper,
    )
