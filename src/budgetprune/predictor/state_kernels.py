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
    from budgetprune.forest.kernels import Trees
    from budgetprune.utils.kernel_types import Doubles, Size


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
    base : int64 array of shape (2, n), lower and upper; padded if there are more columns than directions
    n_directions : number of directions, without padding
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
        n_directions: int,
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
        self.n_directions = n_directions
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
        known = np.zeros(n_features + 1, dtype=np.bool_)
        self.known, self.known_array = known, known[:n_features]
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
        self.total = np.zeros((2, trees.base.shape[1]), dtype=np.int64)
        self.label = -1
        self.why = 0
        self.source = -1
        self.n_acquired = 0
        self.order = np.empty(n_sources, dtype=np.int32)  # acquired sources
        # Sums of the values at the current nodes, not divided; bounds of sums over trees, without slack.
        scores, bounds = np.empty(n_outputs), np.empty((2, trees.n_directions))
        self.scores, self.score_array = scores, scores
        self.final_bounds, self.bound_array = bounds, bounds
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
def set_values(row: Doubles, state: State) -> cython.void:
    """Store the values of all features."""
    k: Size
    for k in range(state.n_features):
        state.row[k] = row[k]
        state.single[k] = round_to_single(row[k])


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
