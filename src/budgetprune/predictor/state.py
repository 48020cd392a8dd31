"""State of one example: known features, current nodes of the trees, and bounds.

The state depends only on the known values, not on the order in which they were acquired. So stepwise
acquisition and simulation of a row reach the same states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import goes_left
from budgetprune.predictor.rules import BY_LOOK_AHEAD, BY_WAITING, StoppingRule
from budgetprune.predictor.tables import BoundedTrees
from budgetprune.utils.jit import njit

ALL = np.uint64(2**64 - 1)  # marks of all features
LARGE = np.int32(2**31 - 1)  # beyond all bounds of a single tree


class State(NamedTuple):
    """Known features of one example, and the quantities derived from them."""

    known: NDArray[np.bool_]  # by feature
    acquired: NDArray[np.bool_]  # by source
    is_available: NDArray[np.bool_]  # by source
    # By tree: the current node, a leaf or the first split on an unknown feature.
    node: NDArray[np.int64]
    bounds: NDArray[np.int32]  # of its possible values, of shape (n_trees, 2, n_columns)
    # By tree: the window of splits on unknown features, at the current node or soon after; none at a leaf.
    n_window: NDArray[np.int64]
    window_feature: NDArray[np.int32]
    window_need: NDArray[np.int64]
    marks: NDArray[np.uint64]  # of these features: bit `k % 64` for feature k
    # Sums over trees.
    total: NDArray[np.int64]  # bounds of all directions, less the slack, of shape (2, n_directions)
    n_waiting: NDArray[np.int64]  # by feature: trees that wait for it
    need: NDArray[np.int64]  # by feature
    # Scratch memory.
    queue: NDArray[np.int64]
    share: NDArray[np.float64]
    gain: NDArray[np.int64]  # by source
    bundle: NDArray[np.int32]  # features that lack several sources


@njit(cache=True)
def new_state(trees: BoundedTrees, rule: StoppingRule, n_features: int, n_sources: int) -> State:
    n_trees, n_places = trees.direction.size, 2 ** (rule.look_ahead + 1) - 1
    return State(
        np.zeros(n_features, dtype=np.bool_),
        np.zeros(n_sources, dtype=np.bool_),
        np.ones(n_sources, dtype=np.bool_),
        np.empty(n_trees, dtype=np.int64),
        np.empty((n_trees, 2, trees.bounds.shape[2]), dtype=np.int32),
        np.empty(n_trees, dtype=np.int64),
        np.empty((n_trees, n_places), dtype=np.int32),
        np.empty((n_trees, n_places), dtype=np.int64),
        np.empty(n_trees, dtype=np.uint64),
        np.empty_like(trees.base),
        np.empty(n_features, dtype=np.int64),
        np.empty(n_features, dtype=np.int64),
        np.empty(n_places, dtype=np.int64),
        np.empty(n_places),
        np.empty(n_sources, dtype=np.int64),
        np.empty(n_features, dtype=np.int32),
    )


@njit(cache=True)
def start_at_roots(
    row: NDArray[Any], trees: BoundedTrees, rule: StoppingRule, slack: float, state: State
) -> None:
    """Advance all trees from their roots, given the known features in `state`."""
    state.node[:] = trees.tree_start[:-1]
    state.bounds[:] = 0
    state.n_window[:] = 0
    state.marks[:] = ALL
    state.total[:] = trees.base
    state.n_waiting[:] = 0
    state.need[:] = 0
    advance(ALL, row, trees, rule, slack, state)


@njit(cache=True)
def initial_state(
    row: NDArray[Any], trees: BoundedTrees, rule: StoppingRule, slack: float, n_features: int, n_sources: int
) -> State:
    """Return the initial state, with no known feature; `row` is not read."""
    state = new_state(trees, rule, n_features, n_sources)
    start_at_roots(row, trees, rule, slack, state)
    return state


@njit(cache=True)
def copy_state(of: State, to: State) -> None:
    """Copy a state into another one."""
    to.known[:] = of.known
    to.acquired[:] = of.acquired
    to.is_available[:] = of.is_available
    to.node[:] = of.node
    to.bounds[:] = of.bounds
    to.n_window[:] = of.n_window
    to.window_feature[:] = of.window_feature
    to.window_need[:] = of.window_need
    to.marks[:] = of.marks
    to.total[:] = of.total
    to.n_waiting[:] = of.n_waiting
    to.need[:] = of.need


@njit(cache=True)
def shrink(bounds: NDArray[np.int32], slack: float) -> None:
    """Remove a share of the range at both ends."""
    for d in range(bounds.shape[1]):
        taken = np.int32(slack * (np.int64(bounds[1, d]) - np.int64(bounds[0, d])))
        bounds[0, d] += taken
        bounds[1, d] -= taken


# --- Current nodes ------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def descend(h: Any, row: NDArray[Any], known: NDArray[np.bool_], trees: BoundedTrees) -> Any:
    """Descend from node `h` to the first split on an unknown feature, or to a leaf."""
    nodes = trees.node
    k = nodes[h]["feature"]
    while k >= 0 and known[k]:
        x, threshold = row[k], nodes[h]["threshold"]
        left = x <= threshold
        if not left and not x > threshold:  # either is NaN
            left = goes_left_slowly(x, h, trees)
        h = np.int64(nodes[h]["child"][np.uint8(left)])
        k = nodes[h]["feature"]
    return h


@njit(cache=True)
def goes_left_slowly(x: Any, h: Any, trees: BoundedTrees) -> bool:
    """Return the side as `goes_left` does, for splits that need more than a comparison."""
    return goes_left(
        x,
        h,
        trees.threshold,
        trees.missing_left,
        trees.category_set,
        trees.category_start,
        trees.category_bits,
        trees.zero_is_missing,
    )


@njit(cache=True)
def advance(
    due: Any, row: NDArray[Any], trees: BoundedTrees, rule: StoppingRule, slack: float, state: State
) -> None:
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
    # Local names: numba would count references in the loop for arrays read from a tuple there.
    nodes, below, share_left, direction = trees.node, trees.bounds, trees.share_left, trees.direction
    known, queue, share, bounds = state.known, state.queue, state.share, state.bounds
    node, marks, total, need = state.node, state.marks, state.total, state.need
    n_waiting, n_window = state.n_waiting, state.n_window
    window_feature, window_need = state.window_feature, state.window_need
    for t in range(node.size):
        if not marks[t] & due:
            continue
        # The values of a tree are added to the sums of all directions, or of only one.
        first, n_fed = (0, bounds.shape[2]) if direction[t] < 0 else (direction[t], 1)
        for d in range(n_fed):
            total[0, first + d] -= bounds[t, 0, d]
            total[1, first + d] -= bounds[t, 1, d]
            bounds[t, 0, d], bounds[t, 1, d] = LARGE, -LARGE
        for j in range(n_window[t]):
            need[window_feature[t, j]] -= window_need[t, j]
        if n_window[t] > 0:
            n_waiting[window_feature[t, 0]] -= 1

        queue[0] = descend(node[t], row, known, trees)
        node[t] = queue[0]
        share[0] = 1.0
        marks[t] = 0
        n_splits, n_queued, place, level, level_end = 0, 1, 0, 0, 1
        # The queue holds nodes level by level. Splits are written to the window, which never overtakes
        # the queue.
        while place < n_queued:
            if place == level_end:
                level, level_end = level + 1, n_queued
            h, probability = queue[place], share[place]
            place += 1
            k = nodes[h]["feature"]
            if k < 0 or level == rule.look_ahead:
                for d in range(n_fed):
                    bounds[t, 0, d] = min(bounds[t, 0, d], below[h, 0, d])
                    bounds[t, 1, d] = max(bounds[t, 1, d], below[h, 1, d])
            else:
                queue[n_queued] = descend(h + 1, row, known, trees)
                queue[n_queued + 1] = descend(np.int64(nodes[h]["child"][0]), row, known, trees)
                share[n_queued] = probability * share_left[h]
                share[n_queued + 1] = probability - share[n_queued]
                n_queued += 2
            if k >= 0:
                window_feature[t, n_splits] = k
                share[n_splits] = probability
                n_splits += 1
                marks[t] |= np.uint64(1) << np.uint64(k & 63)

        span = np.int64(0)
        for d in range(n_fed):
            span += np.int64(bounds[t, 1, d]) - np.int64(bounds[t, 0, d])
        if slack > 0:
            shrink(bounds[t], slack)
        for d in range(n_fed):
            total[0, first + d] += bounds[t, 0, d]
            total[1, first + d] += bounds[t, 1, d]
        n_window[t] = n_splits
        for j in range(n_splits):
            if rule.order == BY_LOOK_AHEAD:
                window_need[t, j] = np.int64(share[j] * span)
            else:
                window_need[t, j] = (1 if rule.order == BY_WAITING else span) if j == 0 else 0
            need[window_feature[t, j]] += window_need[t, j]
        if n_splits > 0:
            n_waiting[window_feature[t, 0]] += 1
