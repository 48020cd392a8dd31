"""State of one example: known features, current nodes of the trees, and bounds.

The state depends only on the known values, not on the order in which they were acquired. So stepwise
acquisition and simulation of a row reach the same states.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.forest.kernels import Trees, goes_left
    from budgetprune.utils.kernel_types import Size, int32_t, int64_t, uint64_t

    BY_LOOK_AHEAD, BY_RANGE, BY_WAITING = range(3)
    LARGE = 2**31 - 1

ALL = cython.declare(uint64_t, 0xFFFFFFFFFFFFFFFF)  # marks of all features


class StoppingRule:
    """Stopping rule for sums over trees, before the divisor and the link.

    Parameters
    ----------
    kind : CUT, LEAD or NARROW
    low, high : CUT: the first class if the upper bound is below `low`, the second if the lower bound is
        above `high`
    guard : LEAD: a smaller lead could be a rounding error
    width : NARROW: largest width of the interval of the target
    divisor : of the sums
    is_exponential : whether the link is `exp`
    order : definition of a tree's need
    look_ahead : number of unknown splits that bounds look past
    """

    def __init__(
        self,
        kind: int,
        low: float,
        high: float,
        guard: float,
        width: float,
        divisor: float,
        is_exponential: bool,
        order: int,
        look_ahead: int,
    ) -> None:
        self.kind = kind
        self.low = low
        self.high = high
        self.guard = guard
        self.width = width
        self.divisor = divisor
        self.is_exponential = is_exponential
        self.order = order
        self.look_ahead = look_ahead


class BoundedTrees(Trees):
    """Nodes of all trees, with bounds of the values below each node.

    The number of a node is its place in an order that suits steps; see `bounded_nodes`.

    Bounds are integers: values times a power of two, rounded outwards. So sums are exact in any order of
    additions and subtractions, and the next step depends only on the known values.

    Parameters
    ----------
    node : structured array, see `bounded_nodes`
    origin : int32 array, the forest's number of each node
    share_left : probability to go left at the split whose children are the nodes 2 i and 2 i + 1
    bounds : of shape (n_bounds, 2, n_columns)
        The lowest and the highest value over the leaves below a node, by direction (see `DecisionRule`);
        nodes have the number of theirs. A tree that adds to one of several directions has its bounds in the
        first column.
    direction : int32 array of shape (n_trees,)
        The direction that a tree adds to, -1 for all.
    base : int64 array of shape (2, n_directions), lower and upper; may be padded
    scale : the power of two
    n_features : number of features; leaves have this number instead of a feature's
    *arrays : of `Trees`
    """

    def __init__(
        self,
        node: NDArray[np.void],
        origin: NDArray[np.int32],
        share_left: NDArray[np.float64],
        bounds: NDArray[np.int32],
        direction: NDArray[np.int32],
        base: NDArray[np.int64],
        scale: float,
        n_features: int,
        *arrays: Any,
    ) -> None:
        Trees.__init__(self, *arrays)
        self.node = node if cython.compiled else node.view(np.recarray)
        self.origin = origin
        self.share_left = share_left
        self.bounds = bounds.ravel()
        self.n_columns = bounds.shape[2]
        self.direction = direction
        self.base = base
        self.n_directions = base.shape[1]
        self.scale = scale
        self.n_features = n_features


class State:
    """Known features of one example, the quantities derived from them, and scratch memory."""

    def __init__(self, trees: BoundedTrees, rule: StoppingRule, n_sources: int, n_outputs: int) -> None:
        n_trees: Size = trees.n_trees
        n_features: Size = trees.n_features
        n_places: Size = (2 << rule.look_ahead) - 1
        self.n_features = n_features
        # By feature. Leaves are like splits on one more feature, which is never known. So steps need no
        # branches for leaves, which the processor would often mispredict.
        self.known = np.zeros(n_features + 1, dtype=np.bool_)
        self.n_waiting = np.zeros(n_features + 1, dtype=np.int64)  # trees that wait for it
        self.need = np.zeros(n_features + 1, dtype=np.int64)
        self.row = np.zeros(n_features)  # values; only known ones are read
        self.single = np.zeros(n_features, dtype=np.float32)  # values in single precision
        # By source.
        self.acquired = np.zeros(n_sources, dtype=np.bool_)
        self.is_available = np.ones(n_sources, dtype=np.bool_)
        # By tree: the current node, a leaf or the first split on an unknown feature.
        self.node = np.zeros(n_trees, dtype=np.int64)
        # By tree: bounds of its possible values, all lower ones before all upper ones.
        self.bounds = np.zeros(n_trees * 2 * trees.n_columns, dtype=np.int32)
        # By tree: the window of splits on unknown features, at the current node or after it; none if that one
        # is a leaf. Leaves after it are in the window, too. There is room for `n_places` per tree.
        self.n_window = np.zeros(n_trees, dtype=np.int64)
        self.n_places = n_places
        self.window_feature = np.zeros(n_trees * n_places, dtype=np.int32)
        self.window_need = np.zeros(n_trees * n_places, dtype=np.int64)
        self.marks = np.zeros(n_trees, dtype=np.uint64)  # of these features: bit `k % 64` for feature k
        # Sums over trees: bounds of all directions, less the slack.
        self.total = np.zeros((2, trees.n_directions), dtype=np.int64)
        self.label = -1
        self.why = 0
        self.source = -1
        self.n_acquired = 0
        self.order = np.empty(n_sources, dtype=np.int32)  # acquired sources
        self.scores = np.empty(n_outputs)  # sums of the values at the current nodes; not divided
        self.n_queued = 0
        self.queue = np.empty(n_places, dtype=np.int64)
        self.queue_share = np.empty(n_places)
        self.share = np.empty(n_places)  # probability to reach each split of the window
        self.due = np.empty(n_trees, dtype=np.int64)
        self.gain = np.empty(n_sources, dtype=np.int64)  # by source
        self.bundle = np.empty(n_features, dtype=np.int32)  # features that lack several sources


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
    for k in range(trees.n_directions):
        state.total[0, k] = trees.base[0, k]
        state.total[1, k] = trees.base[1, k]
    for k in range(state.need.shape[0]):
        state.n_waiting[k] = 0
        state.need[k] = 0
    advance(ALL, trees, rule, slack, state)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_state(origin: State, to: State) -> cython.void:
    """Copy a state into another one, without the row and without scratch memory."""
    j: Size
    k: Size
    t: Size
    for k in range(origin.n_features + 1):
        to.known[k] = origin.known[k]
        to.n_waiting[k] = origin.n_waiting[k]
        to.need[k] = origin.need[k]
    for k in range(origin.acquired.shape[0]):
        to.acquired[k] = origin.acquired[k]
        to.is_available[k] = origin.is_available[k]
    for t in range(origin.node.shape[0]):
        to.node[t] = origin.node[t]
        to.n_window[t] = origin.n_window[t]
        to.marks[t] = origin.marks[t]
    for j in range(origin.window_need.shape[0]):
        to.window_feature[j] = origin.window_feature[j]
        to.window_need[j] = origin.window_need[j]
    for k in range(origin.bounds.shape[0]):
        to.bounds[k] = origin.bounds[k]
    for k in range(origin.total.shape[1]):
        to.total[0, k] = origin.total[0, k]
        to.total[1, k] = origin.total[1, k]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def waits(state: State) -> cython.bint:
    """Return whether any tree waits for a feature."""
    t: Size = 0
    while t < state.n_window.shape[0] and state.n_window[t] == 0:
        t += 1
    return t < state.n_window.shape[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_value(state: State, k: Size, x: cython.double) -> cython.void:
    """Store the value of a feature."""
    state.row[k] = x
    state.single[k] = round_to_single(x)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def round_to_single(x: cython.double) -> cython.double:
    """Round a number to single precision; one that is too large becomes infinite."""
    if cython.compiled:
        return cython.cast(cython.float, x)
    else:  # noqa: RET505 (code after the branch would be unreachable when compiled)
        with np.errstate(over="ignore"):
            return float(np.float32(x))


# --- Current nodes ------------------------------------------------------------------------------------------


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
        look_ahead(t, trees, rule, state)
        add(t, trees, rule, slack, state)


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
def look_ahead(t: Size, trees: BoundedTrees, rule: StoppingRule, state: State) -> cython.void:
    """Find the current node of a tree, its bounds and its window."""
    d: Size
    n_columns: Size = trees.n_columns
    low: Size = 2 * t * n_columns
    for d in range(n_columns):
        state.bounds[low + d] = LARGE
        state.bounds[low + n_columns + d] = -LARGE
    state.n_window[t] = 0
    state.marks[t] = 0
    h: Size = descend(state.node[t], trees, state)
    state.node[t] = h
    if trees.node[h].feature == trees.n_features:
        include_bounds(h, low, n_columns, trees, state)
    elif rule.look_ahead == 0:
        include_bounds(h, low, n_columns, trees, state)
        add_to_window(h, 1.0, t, trees, state)
    else:
        state.n_queued = 0
        look_below(h, 1.0, rule.look_ahead == 1, t, trees, state)
        # The queue holds splits on unknown features, level by level.
        place: Size = 0
        level: Size = 1
        level_end: Size = 0
        while place < state.n_queued:
            if place == level_end:
                level += 1
                level_end = state.n_queued
            look_below(
                state.queue[place], state.queue_share[place], level == rule.look_ahead, t, trees, state
            )
            place += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def look_below(
    h: Size, probability: cython.double, is_last: cython.bint, t: Size, trees: BoundedTrees, state: State
) -> cython.void:
    """Visit both sides of a split on an unknown feature; queue splits there if this is not the last level."""
    side: Size
    n_columns: Size = trees.n_columns
    child: Size = trees.node[h].child
    share: cython.double = probability * trees.share_left[child >> 1]
    add_to_window(h, probability, t, trees, state)
    for side in range(2):
        below: Size = descend(child + side, trees, state)
        if is_last or trees.node[below].feature == trees.n_features:
            include_bounds(below, 2 * t * n_columns, n_columns, trees, state)
            add_to_window(below, share, t, trees, state)
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
    h: Size, probability: cython.double, t: Size, trees: BoundedTrees, state: State
) -> cython.void:
    """Add a node to the window of a tree."""
    j: Size = state.n_window[t]
    k: Size = trees.node[h].feature
    is_split: uint64_t = 1 if k < trees.n_features else 0
    state.window_feature[t * state.n_places + j] = cython.cast(int32_t, k)
    state.share[j] = probability
    state.n_window[t] = j + 1
    state.marks[t] |= is_split << cython.cast(Size, k & 63)


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
def add(t: Size, trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State) -> cython.void:
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
    n_window: Size = state.n_window[t]
    window: Size = t * state.n_places
    for j in range(n_window):
        need: int64_t = 0
        if rule.order == BY_LOOK_AHEAD:
            need = cython.cast(int64_t, state.share[j] * span)
        elif j == 0:
            need = 1 if rule.order == BY_WAITING else span
        state.window_need[window + j] = need
        state.need[state.window_feature[window + j]] += need
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
