"""Steps of trees from their current nodes, once more features are known."""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.forest.kernels import goes_left
    from budgetprune.predictor.state_kernels import BoundedTrees, State, StoppingRule
    from budgetprune.utils.kernel_types import Size, int32_t, int64_t, uint32_t, uint64_t

    BY_LOOK_AHEAD, BY_RANGE, BY_WAITING = range(3)
    LARGE = 2**31 - 1

    def prefetch(address: object) -> None:
        """Let the processor load a cache line; only compiled code can."""


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
    for k in range(state.low.shape[0]):
        state.low[k] = 0
        state.high[k] = 0
    for k in range(state.side_bounds.shape[0]):
        state.side_bounds[k] = 0
    for k in range(trees.base.shape[1]):
        state.least[k] = trees.base[0, k]
        state.most[k] = trees.base[1, k]
    for k in range(state.need.shape[0]):
        state.n_waiting[k] = 0
        state.need[k] = 0
    advance(ALL, trees, rule, slack, state)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def child_of(h: Size, k: Size, trees: BoundedTrees, state: State) -> Size:
    """Return the child of a split on the known feature `k`."""
    x: cython.float = state.single[k]
    threshold: cython.float = trees.node[h].threshold
    # The side is a number, because the processor would often mispredict a branch.
    right: Size = 1 if x > threshold else 0
    # Rounding keeps the order of numbers, so only equal ones have to be compared in full precision.
    if x == threshold or x != x or threshold != threshold:
        right = 0 if goes_left(state.row[k], trees.origin[h], trees) else 1
    child: Size = trees.node[h].child
    return child + right


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def descend(h: Size, trees: BoundedTrees, state: State) -> Size:
    """Descend from node `h` to the first split on an unknown feature, or to a leaf."""
    k: Size = trees.node[h].feature
    while state.known[k]:
        h = child_of(h, k, trees, state)
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
    if rule.look_ahead == 1:
        advance_together(n_due, trees, rule, slack, state)
        return
    for i in range(n_due):
        t = state.due[i]
        subtract_needs(t, state)
        n_window: Size = look_ahead(t, trees, rule.look_ahead, slack, state)
        add_needs(t, n_window, trees, rule, state)


# --- Nodes that a tree may reach ----------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def advance_together(
    n_due: Size, trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State
) -> cython.void:
    """Advance the trees that are due by what `look_ahead` does for one level, all of them together.

    Steps that were made before are not repeated: the window has the nodes that were reached from the children
    of the current node.
    """
    i: Size
    t: Size
    h: Size
    child: Size
    window: Size
    n_moved: Size = 0
    for i in range(n_due):
        t = state.due[i]
        subtract_needs(t, state)
        h = state.node[t]
        state.moved[n_moved] = t
        if state.n_window[t] == 0:
            state.cursor[n_moved] = h
            n_moved += 1
        else:
            k: Size = trees.node[h].feature
            if state.known[k]:
                right: Size = child_of(h, k, trees, state) & 1
                state.cursor[n_moved] = state.window_node[t * state.n_places + 1 + right]
                n_moved += 1
    descend_together(n_moved, trees, state)
    for i in range(n_moved):
        t = state.moved[i]
        h = state.cursor[i]
        window = t * state.n_places
        state.node[t] = h
        is_split: cython.bint = trees.node[h].feature < trees.n_features
        child = cython.cast(Size, trees.node[h].child)
        share: cython.double = trees.share_left[child >> 1]
        add_to_window(h, 1.0, window, trees, state)
        state.window_share[window + 1] = share
        state.window_share[window + 2] = 1.0 - share
        state.window_node[window + 1] = child if is_split else h
        state.window_node[window + 2] = child + 1 if is_split else h
    for i in range(n_due):
        window = state.due[i] * state.n_places
        state.cursor[2 * i] = state.window_node[window + 1]
        state.cursor[2 * i + 1] = state.window_node[window + 2]
    descend_together(2 * n_due, trees, state)
    for i in range(n_due):
        t = state.due[i]
        store_sides(t, state.cursor[2 * i], state.cursor[2 * i + 1], trees, slack, state)
        is_leaf: cython.bint = trees.node[state.node[t]].feature == trees.n_features
        add_needs(t, 0 if is_leaf else 3, trees, rule, state)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def descend_together(n: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Do what `descend` does, for the first nodes of `state.cursor`.

    All make a step before any makes another one. So the processor waits for several nodes at once, and there
    are no branches that it would often mispredict.
    """
    i: Size
    c: Size
    h: Size
    n_active: Size = 0
    for i in range(n):
        state.active[n_active] = i
        n_active += 1 if state.known[trees.node[state.cursor[i]].feature] else 0
    while n_active > 0:
        n_left: Size = 0
        for i in range(n_active):
            c = state.active[i]
            h = state.cursor[c]
            k: Size = trees.node[h].feature
            is_known: Size = 1 if state.known[k] else 0
            x: cython.float = state.single[k]
            threshold: cython.float = trees.node[h].threshold
            # All of this is as in `child_of`, but without effect if the feature is unknown.
            right: Size = 1 if x > threshold else 0
            is_apart: Size = right | (1 if x < threshold else 0)
            if is_known > is_apart:
                right = 0 if goes_left(state.row[k], trees.origin[h], trees) else 1
            below: Size = cython.cast(Size, trees.node[h].child) + right
            h += (below - h) & -is_known
            state.cursor[c] = h
            if cython.compiled:
                prefetch(cython.address(trees.node[h]))
            state.active[n_left] = c
            n_left += is_known
        n_active = n_left


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def store_sides(
    t: Size, left: Size, right: Size, trees: BoundedTrees, slack: cython.double, state: State
) -> cython.void:
    """Store the nodes that are reached from both children of the current node of a tree, and its bounds."""
    window: Size = t * state.n_places
    state.window_node[window + 1] = left
    state.window_node[window + 2] = right
    state.window_feature[window + 1] = trees.node[left].feature
    state.window_feature[window + 2] = trees.node[right].feature
    if cython.compiled:
        # What is likely to be compared soon; GCC would drop a function that only does this.
        below: Size = trees.node[left].child
        prefetch(cython.address(trees.node[below]))
        prefetch(cython.address(trees.share_left[below >> 1]))
        below = trees.node[right].child
        prefetch(cython.address(trees.node[below]))
        prefetch(cython.address(trees.share_left[below >> 1]))
    # Near the root, bounds seldom change.
    on_left: uint32_t = trees.node[left].bounds + 1
    on_right: uint32_t = trees.node[right].bounds + 1
    if state.side_bounds[2 * t] != on_left or state.side_bounds[2 * t + 1] != on_right:
        state.side_bounds[2 * t] = on_left
        state.side_bounds[2 * t + 1] = on_right
        join_bounds(left, right, trees, state)
        replace_bounds(t, trees, slack, state)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def look_ahead(t: Size, trees: BoundedTrees, n_levels: Size, slack: cython.double, state: State) -> Size:
    """Find the current node of a tree, its bounds and its window; return the size of the window."""
    window: Size = t * state.n_places
    start_bounds(trees.n_columns, state)
    h: Size = descend(state.node[t], trees, state)
    state.node[t] = h
    n_window: Size = 0
    state.n_queued = 0
    if trees.node[h].feature == trees.n_features:
        include_bounds(h, trees, state)
    else:
        add_to_window(h, 1.0, window, trees, state)
        n_window = 1
        if n_levels == 0:
            include_bounds(h, trees, state)
        else:
            state.queue[0] = h
            state.queue_share[0] = 1.0
            state.n_queued = 1
    # The queue holds splits on unknown features, level by level.
    place: Size = 0
    level: Size = 0
    level_end: Size = 0
    while place < state.n_queued:
        if place == level_end:
            level += 1
            level_end = state.n_queued
        h = state.queue[place]
        probability: cython.double = state.queue_share[place]
        look_below(h, probability, window + n_window, level == n_levels, trees, state)
        n_window += 2
        place += 1
    replace_bounds(t, trees, slack, state)
    return n_window


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def look_below(
    h: Size,
    probability: cython.double,
    place: Size,
    is_last: cython.bint,
    trees: BoundedTrees,
    state: State,
) -> cython.void:
    """Add both sides of a split on an unknown feature to the window of a tree, at a place.

    Splits there are queued, unless this is the last level.
    """
    side: Size
    child: Size = trees.node[h].child
    share: cython.double = probability * trees.share_left[child >> 1]
    for side in range(2):
        below: Size = descend(child + side, trees, state)
        add_to_window(below, share, place + side, trees, state)
        if is_last or trees.node[below].feature == trees.n_features:
            include_bounds(below, trees, state)
        else:
            state.queue[state.n_queued] = below
            state.queue_share[state.n_queued] = share
            state.n_queued += 1
        share = probability - share


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_to_window(
    h: Size, probability: cython.double, place: Size, trees: BoundedTrees, state: State
) -> cython.void:
    """Store a node as an entry of the window of a tree."""
    state.window_feature[place] = trees.node[h].feature
    state.window_share[place] = probability


# --- Bounds of trees, and their sums ------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def start_bounds(n_columns: Size, state: State) -> cython.void:
    """Begin the bounds of a tree that will include those of some nodes."""
    d: Size
    for d in range(n_columns):
        state.fresh_low[d] = LARGE
        state.fresh_high[d] = -LARGE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def include_bounds(h: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Let the new bounds of a tree include those of a node."""
    d: Size
    n_columns: Size = trees.n_columns
    low: Size = 2 * trees.node[h].bounds * n_columns
    high: Size = low + n_columns
    for d in range(n_columns):
        state.fresh_low[d] = min(state.fresh_low[d], trees.bounds[low + d])
        state.fresh_high[d] = max(state.fresh_high[d], trees.bounds[high + d])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def join_bounds(left: Size, right: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Let the new bounds of a tree be those of two nodes."""
    d: Size
    n_columns: Size = trees.n_columns
    this: Size = 2 * trees.node[left].bounds * n_columns
    that: Size = 2 * trees.node[right].bounds * n_columns
    for d in range(n_columns):
        state.fresh_low[d] = min(trees.bounds[this + d], trees.bounds[that + d])
    this += n_columns
    that += n_columns
    for d in range(n_columns):
        state.fresh_high[d] = max(trees.bounds[this + d], trees.bounds[that + d])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def replace_bounds(t: Size, trees: BoundedTrees, slack: cython.double, state: State) -> cython.void:
    """Replace the bounds of a tree by the new ones, and update the sums."""
    d: Size
    n_columns: Size = trees.n_columns
    # The values of a tree are added to the sums of all directions, or of only one.
    first: Size = 0 if trees.direction[t] < 0 else trees.direction[t]
    n_fed: Size = n_columns if trees.direction[t] < 0 else 1
    place: Size = t * n_columns
    span: int64_t = 0
    for d in range(n_fed):
        span += cython.cast(int64_t, state.fresh_high[d]) - cython.cast(int64_t, state.fresh_low[d])
    state.span[t] = span
    if slack > 0:
        shrink(n_fed, slack, state)
    for d in range(n_fed):
        state.least[first + d] += cython.cast(int64_t, state.fresh_low[d]) - state.low[place + d]
        state.low[place + d] = state.fresh_low[d]
    for d in range(n_fed):
        state.most[first + d] += cython.cast(int64_t, state.fresh_high[d]) - state.high[place + d]
        state.high[place + d] = state.fresh_high[d]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shrink(n_fed: Size, slack: cython.double, state: State) -> cython.void:
    """Remove a share of the range of the new bounds at both ends."""
    d: Size
    for d in range(n_fed):
        width: int64_t = cython.cast(int64_t, state.fresh_high[d])
        width -= cython.cast(int64_t, state.fresh_low[d])
        taken: int32_t = cython.cast(int32_t, slack * width)
        state.fresh_low[d] += taken
        state.fresh_high[d] -= taken


# --- Needs of trees, and their sums -------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def subtract_needs(t: Size, state: State) -> cython.void:
    """Subtract the needs of a tree from the sums."""
    j: Size
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
def add_needs(t: Size, n_window: Size, trees: BoundedTrees, rule: StoppingRule, state: State) -> cython.void:
    """Compute the needs of a tree from its new window, and add them to the sums; see `advance`."""
    j: Size
    span: int64_t = state.span[t]
    window: Size = t * state.n_places
    marks: uint64_t = 0
    for j in range(window, window + n_window):
        k: Size = state.window_feature[j]
        is_split: uint64_t = 1 if k < trees.n_features else 0
        marks |= is_split << cython.cast(Size, k & 63)
        need: int64_t = 0
        if rule.order == BY_LOOK_AHEAD:
            need = cython.cast(int64_t, state.window_share[j] * span)
        elif j == window:
            need = 1 if rule.order == BY_WAITING else span
        state.window_need[j] = need
        state.need[k] += need
    state.marks[t] = marks
    state.n_window[t] = n_window
    if n_window > 0:
        state.n_waiting[state.window_feature[window]] += 1
