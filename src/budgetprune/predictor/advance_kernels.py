"""Steps of trees from their current nodes, once more features are known."""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.forest.kernels import goes_left
    from budgetprune.predictor.state_kernels import BoundedTrees, State, StoppingRule
    from budgetprune.utils.kernel_types import Size, int32_t, int64_t, uint64_t

    BY_LOOK_AHEAD, BY_RANGE, BY_WAITING = range(3)
    LARGE = 2**31 - 1

ALL = cython.declare(uint64_t, 0xFFFFFFFFFFFFFFFF)  # marks of all features


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def start_at_roots(
    trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State
) -> cython.void:
    """Advance all trees from their roots, given the known features in `state`."""
    t: Size
    k: Size
    for t in range(trees.n_trees):
        state.node[t] = 2 * t
        state.n_window[t] = 0
        state.marks[t] = ALL
    for k in range(state.bounds.shape[0]):
        state.bounds[k] = 0
    for k in range(trees.base.shape[1]):
        state.total[0, k] = trees.base[0, k]
        state.total[1, k] = trees.base[1, k]
    for k in range(state.need.shape[0]):
        state.n_waiting[k] = 0
        state.need[k] = 0
    advance(ALL, trees, rule, slack, state)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def descend(h: Size, trees: BoundedTrees, state: State) -> Size:
    """Descend from node `h` to the first split on an unknown feature, or to a leaf."""
    k: Size = trees.node[h].feature
    while state.known[k]:
        x: cython.float = state.single[k]
        threshold: cython.float = trees.node[h].threshold
        # The side is a number, because the processor would often mispredict a branch.
        right: Size = 1 if x > threshold else 0
        # Rounding keeps the order of numbers, so only equal ones have to be compared in full precision.
        if x == threshold or x != x or threshold != threshold:
            right = 0 if goes_left(state.row[k], trees.origin[h], trees) else 1
        h = trees.node[h].child + right
        k = trees.node[h].feature
    return h


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance(
    due: uint64_t, trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State
) -> cython.void:
    """Advance trees from their current nodes, and bound their possible values.

    Below an unknown split both sides are possible; on each, known splits are followed further down. The
    leaves that can still be reached bound the value of the tree::

            unknown            in the window: at most 1 + 2 + 4 splits with a look-ahead of 2
            ╱     ╲
         known   unknown       known splits are passed, and exclude what is on their other side
           ╲      ╱    ╲
        unknown  leaf  unknown

    Parameters
    ----------
    due : marks of features that have become known; a tree with none of them in its window is unchanged
    rule : defines the look-ahead, and how much a tree needs each feature. BY_WAITING: 1 for the feature that
        the tree waits for. BY_RANGE: the width of the tree's bounds, for the same feature. BY_LOOK_AHEAD:
        that width times the probability of reaching the feature, for each feature in the window
    slack : share of a tree's range that is removed at both ends
    """
    i: Size
    t: Size
    # The trees are listed first, without a branch that the processor could mispredict.
    n_due: Size = 0
    for t in range(trees.n_trees):
        state.due[n_due] = t
        n_due += 1 if state.marks[t] & due else 0
    for i in range(n_due):
        t = state.due[i]
        subtract(t, trees, state)
        n_window: Size = look_ahead(t, trees, rule, state)
        add(t, n_window, trees, rule, slack, state)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def subtract(t: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Subtract the bounds and the needs of a tree from the sums."""
    d: Size
    j: Size
    n_columns: Size = trees.n_columns
    first: Size = 0 if trees.direction[t] < 0 else trees.direction[t]
    n_fed: Size = n_columns if trees.direction[t] < 0 else 1
    low: Size = 2 * t * n_columns
    for d in range(n_fed):
        state.total[0, first + d] -= state.bounds[low + d]
        state.total[1, first + d] -= state.bounds[low + n_columns + d]
    n_window: Size = state.n_window[t]
    window: Size = t * state.n_places
    for j in range(window, window + n_window):
        state.need[state.window_feature[j]] -= state.window_need[j]
    if n_window > 0:
        state.n_waiting[state.window_feature[window]] -= 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def look_ahead(t: Size, trees: BoundedTrees, rule: StoppingRule, state: State) -> Size:
    """Find the current node of a tree, its bounds and its window; return the size of the window."""
    d: Size
    n_columns: Size = trees.n_columns
    low: Size = 2 * t * n_columns
    for d in range(n_columns):
        state.bounds[low + d] = LARGE
        state.bounds[low + n_columns + d] = -LARGE
    h: Size = descend(state.node[t], trees, state)
    state.node[t] = h
    if trees.node[h].feature == trees.n_features:
        include_bounds(h, low, n_columns, trees, state)
        return 0
    add_to_window(h, 1.0, 0, t, trees, state)
    if rule.look_ahead == 0:
        include_bounds(h, low, n_columns, trees, state)
        return 1
    state.n_queued = 0
    n_window: Size = look_below(h, 1.0, 1, rule.look_ahead == 1, t, trees, state)
    # The queue holds splits on unknown features, level by level.
    place: Size = 0
    level: Size = 1
    level_end: Size = 0
    while place < state.n_queued:
        if place == level_end:
            level += 1
            level_end = state.n_queued
        h = state.queue[place]
        probability: cython.double = state.queue_share[place]
        n_window = look_below(h, probability, n_window, level == rule.look_ahead, t, trees, state)
        place += 1
    return n_window


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def look_below(
    h: Size,
    probability: cython.double,
    n_window: Size,
    is_last: cython.bint,
    t: Size,
    trees: BoundedTrees,
    state: State,
) -> Size:
    """Add both sides of a split on an unknown feature to the window of a tree; return its new size.

    Splits there are queued, unless this is the last level.
    """
    side: Size
    n_columns: Size = trees.n_columns
    child: Size = trees.node[h].child
    share: cython.double = probability * trees.share_left[child >> 1]
    for side in range(2):
        below: Size = descend(child + side, trees, state)
        add_to_window(below, share, n_window + side, t, trees, state)
        if is_last or trees.node[below].feature == trees.n_features:
            include_bounds(below, 2 * t * n_columns, n_columns, trees, state)
        else:
            state.queue[state.n_queued] = below
            state.queue_share[state.n_queued] = share
            state.n_queued += 1
        share = probability - share
    return n_window + 2


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_to_window(
    h: Size, probability: cython.double, j: Size, t: Size, trees: BoundedTrees, state: State
) -> cython.void:
    """Store a node as an entry of the window of a tree."""
    state.window_feature[t * state.n_places + j] = trees.node[h].feature
    state.share[j] = probability


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def include_bounds(h: Size, low: Size, n_columns: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Let the bounds of a tree, which begin at `low`, include those of a node."""
    d: Size
    below: Size = 2 * trees.node[h].bounds * n_columns
    if n_columns == 1:
        state.bounds[low] = min(state.bounds[low], trees.bounds[below])
        state.bounds[low + 1] = max(state.bounds[low + 1], trees.bounds[below + 1])
        return
    for d in range(n_columns):
        state.bounds[low + d] = min(state.bounds[low + d], trees.bounds[below + d])
    low += n_columns
    below += n_columns
    for d in range(n_columns):
        state.bounds[low + d] = max(state.bounds[low + d], trees.bounds[below + d])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add(
    t: Size, n_window: Size, trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State
) -> cython.void:
    """Add the bounds and the needs of a tree to the sums; see `advance`."""
    d: Size
    j: Size
    n_columns: Size = trees.n_columns
    # The values of a tree are added to the sums of all directions, or of only one.
    first: Size = 0 if trees.direction[t] < 0 else trees.direction[t]
    n_fed: Size = n_columns if trees.direction[t] < 0 else 1
    low: Size = 2 * t * n_columns
    high: Size = low + n_columns
    span: int64_t = 0
    for d in range(n_fed):
        span += cython.cast(int64_t, state.bounds[high + d]) - cython.cast(int64_t, state.bounds[low + d])
    if slack > 0:
        shrink(low, high, n_fed, slack, state)
    for d in range(n_fed):
        state.total[0, first + d] += state.bounds[low + d]
        state.total[1, first + d] += state.bounds[high + d]
    window: Size = t * state.n_places
    marks: uint64_t = 0
    for j in range(n_window):
        k: Size = state.window_feature[window + j]
        is_split: uint64_t = 1 if k < trees.n_features else 0
        marks |= is_split << cython.cast(Size, k & 63)
        need: int64_t = 0
        if rule.order == BY_LOOK_AHEAD:
            need = cython.cast(int64_t, state.share[j] * span)
        elif j == 0:
            need = 1 if rule.order == BY_WAITING else span
        state.window_need[window + j] = need
        state.need[k] += need
    state.marks[t] = marks
    state.n_window[t] = n_window
    if n_window > 0:
        state.n_waiting[state.window_feature[window]] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shrink(low: Size, high: Size, n_fed: Size, slack: cython.double, state: State) -> cython.void:
    """Remove a share of the range at both ends."""
    d: Size
    for d in range(n_fed):
        width: int64_t = cython.cast(int64_t, state.bounds[high + d])
        width -= cython.cast(int64_t, state.bounds[low + d])
        taken: int32_t = cython.cast(int32_t, slack * width)
        state.bounds[low + d] += taken
        state.bounds[high + d] -= taken
