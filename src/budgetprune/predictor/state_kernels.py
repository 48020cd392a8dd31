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
    """Nodes of all trees in pre-order, with bounds of the values below each node.

    Bounds are integers: values times a power of two, rounded outwards. So sums are exact in any order of
    additions and subtractions, and the next step depends only on the known values.

    Parameters
    ----------
    node : structured array, see `bounded_nodes`
    bounds : of shape (n_nodes, 2, n_columns)
        The lowest and the highest value over the leaves below, by direction (see `DecisionRule`). A tree that
        adds to one of several directions has its bounds in the first column. Not read if there is only one
        column: nodes hold those bounds themselves.
    direction : int32 array of shape (n_trees,)
        The direction that a tree adds to, -1 for all.
    base : int64 array of shape (2, n_directions), lower and upper; may be padded
    scale : the power of two
    *arrays : of `Trees`
    """

    def __init__(
        self,
        node: NDArray[np.void],
        bounds: NDArray[np.int32],
        direction: NDArray[np.int32],
        base: NDArray[np.int64],
        scale: float,
        *arrays: Any,
    ) -> None:
        Trees.__init__(self, *arrays)
        self.node = node if cython.compiled else node.view(np.recarray)
        self.bounds = bounds.ravel()
        self.n_columns = bounds.shape[2]
        self.direction = direction
        self.base = base
        self.n_directions = base.shape[1]
        self.scale = scale


class State:
    """Known features of one example, the quantities derived from them, and scratch memory."""

    def __init__(
        self, trees: BoundedTrees, rule: StoppingRule, n_features: int, n_sources: int, n_outputs: int
    ) -> None:
        n_trees: Size = trees.n_trees
        n_places: Size = (2 << rule.look_ahead) - 1
        self.known = np.zeros(n_features, dtype=np.bool_)
        self.acquired = np.zeros(n_sources, dtype=np.bool_)
        self.is_available = np.ones(n_sources, dtype=np.bool_)
        self.row = np.zeros(n_features)  # only known features are read
        # By tree: the current node, a leaf or the first split on an unknown feature.
        self.node = np.zeros(n_trees, dtype=np.int64)
        # By tree: bounds of its possible values, all lower ones before all upper ones.
        self.bounds = np.zeros(n_trees * 2 * trees.n_columns, dtype=np.int32)
        # By tree: the window of splits on unknown features, at the current node or soon after it; none at a
        # leaf.
        self.n_window = np.zeros(n_trees, dtype=np.int64)
        self.window_feature = np.zeros((n_trees, n_places), dtype=np.int32)
        self.window_need = np.zeros((n_trees, n_places), dtype=np.int64)
        self.marks = np.zeros(n_trees, dtype=np.uint64)  # of these features: bit `k % 64` for feature k
        # Sums over trees: bounds of all directions, less the slack.
        self.total = np.zeros((2, trees.n_directions), dtype=np.int64)
        self.n_waiting = np.zeros(n_features, dtype=np.int64)  # by feature: trees that wait for it
        self.need = np.zeros(n_features, dtype=np.int64)  # by feature
        self.label = -1
        self.why = 0
        self.source = -1
        self.n_acquired = 0
        self.order = np.empty(n_sources, dtype=np.int32)  # acquired sources
        self.scores = np.empty(n_outputs)  # sums of the values at the current nodes; not divided
        self.queue = np.empty(n_places, dtype=np.int64)
        self.share = np.empty(n_places)
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
        state.node[t] = trees.tree_start[t]
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
    for k in range(origin.known.shape[0]):
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
        for j in range(origin.n_window[t]):
            to.window_feature[t, j] = origin.window_feature[t, j]
            to.window_need[t, j] = origin.window_need[t, j]
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


# --- Current nodes ------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def descend(h: Size, trees: BoundedTrees, state: State) -> Size:
    """Descend from node `h` to the first split on an unknown feature, or to a leaf."""
    k: Size = trees.node[h].feature
    while k >= 0 and state.known[k]:
        x: cython.double = state.row[k]
        left: Size = 1 if x <= trees.node[h].threshold else 0
        if not left and not x > trees.node[h].threshold:  # either is NaN
            left = 1 if goes_left(x, h, trees) else 0
        h = h + 1 if left else trees.node[h].right
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
    t: Size
    for t in range(trees.n_trees):
        if state.marks[t] & due:
            subtract(t, trees, state)
            n_splits: Size = look_ahead(t, trees, rule, state)
            add(t, n_splits, trees, rule, slack, state)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def subtract(t: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Subtract the bounds and the needs of a tree from the sums."""
    d: Size
    j: Size
    first: Size = 0 if trees.direction[t] < 0 else trees.direction[t]
    n_fed: Size = trees.n_columns if trees.direction[t] < 0 else 1
    low: Size = 2 * t * trees.n_columns
    high: Size = low + trees.n_columns
    for d in range(n_fed):
        state.total[0, first + d] -= state.bounds[low + d]
        state.total[1, first + d] -= state.bounds[high + d]
    for j in range(state.n_window[t]):
        state.need[state.window_feature[t, j]] -= state.window_need[t, j]
    if state.n_window[t] > 0:
        state.n_waiting[state.window_feature[t, 0]] -= 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def look_ahead(t: Size, trees: BoundedTrees, rule: StoppingRule, state: State) -> Size:
    """Find the current node of a tree, its bounds and its window; return the number of splits in it."""
    h: Size = descend(state.node[t], trees, state)
    state.node[t] = h
    state.queue[0] = h
    state.share[0] = 1.0
    lowest: int32_t = LARGE
    highest: int32_t = -LARGE
    if trees.n_columns > 1:
        clear_bounds(t, trees, state)
    marks: uint64_t = 0
    n_splits: Size = 0
    n_queued: Size = 1
    place: Size = 0
    level: Size = 0
    level_end: Size = 1
    # The queue holds nodes level by level. Splits are written to the window, which never overtakes the queue.
    while place < n_queued:
        if place == level_end:
            level += 1
            level_end = n_queued
        h = state.queue[place]
        probability: cython.double = state.share[place]
        place += 1
        k: Size = trees.node[h].feature
        if k < 0 or level == rule.look_ahead:
            if trees.n_columns > 1:
                widen_bounds(t, h, trees, state)
            else:
                lowest = min(lowest, trees.node[h].low)
                highest = max(highest, trees.node[h].high)
        else:
            state.queue[n_queued] = descend(h + 1, trees, state)
            state.queue[n_queued + 1] = descend(trees.node[h].right, trees, state)
            state.share[n_queued] = probability * trees.node[h].share_left
            state.share[n_queued + 1] = probability - state.share[n_queued]
            n_queued += 2
        if k >= 0:
            state.window_feature[t, n_splits] = cython.cast(int32_t, k)
            state.share[n_splits] = probability
            n_splits += 1
            marks |= cython.cast(uint64_t, 1) << cython.cast(Size, k & 63)
    state.marks[t] = marks
    if trees.n_columns == 1:
        state.bounds[2 * t] = lowest
        state.bounds[2 * t + 1] = highest
    return n_splits


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def clear_bounds(t: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Set the bounds of a tree to those of no node."""
    d: Size
    low: Size = 2 * t * trees.n_columns
    for d in range(trees.n_columns):
        state.bounds[low + d] = LARGE
        state.bounds[low + trees.n_columns + d] = -LARGE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def widen_bounds(t: Size, h: Size, trees: BoundedTrees, state: State) -> cython.void:
    """Let the bounds of a tree include those of a node."""
    d: Size
    low: Size = 2 * t * trees.n_columns
    below: Size = 2 * h * trees.n_columns
    for d in range(trees.n_columns):
        state.bounds[low + d] = min(state.bounds[low + d], trees.bounds[below + d])
    low += trees.n_columns
    below += trees.n_columns
    for d in range(trees.n_columns):
        state.bounds[low + d] = max(state.bounds[low + d], trees.bounds[below + d])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add(
    t: Size, n_splits: Size, trees: BoundedTrees, rule: StoppingRule, slack: cython.double, state: State
) -> cython.void:
    """Add the bounds and the needs of a tree to the sums; see `advance`."""
    d: Size
    j: Size
    # The values of a tree are added to the sums of all directions, or of only one.
    first: Size = 0 if trees.direction[t] < 0 else trees.direction[t]
    n_fed: Size = trees.n_columns if trees.direction[t] < 0 else 1
    low: Size = 2 * t * trees.n_columns
    high: Size = low + trees.n_columns
    span: int64_t = 0
    for d in range(n_fed):
        width: int64_t = cython.cast(int64_t, state.bounds[high + d])
        width -= cython.cast(int64_t, state.bounds[low + d])
        span += width
        if slack > 0:
            taken: int32_t = cython.cast(int32_t, slack * width)
            state.bounds[low + d] += taken
            state.bounds[high + d] -= taken
        state.total[0, first + d] += state.bounds[low + d]
        state.total[1, first + d] += state.bounds[high + d]
    state.n_window[t] = n_splits
    for j in range(n_splits):
        need: int64_t = 0
        if rule.order == BY_LOOK_AHEAD:
            need = cython.cast(int64_t, state.share[j] * span)
        elif j == 0:
            need = 1 if rule.order == BY_WAITING else span
        state.window_need[t, j] = need
        state.need[state.window_feature[t, j]] += need
    if n_splits > 0:
        state.n_waiting[state.window_feature[t, 0]] += 1
