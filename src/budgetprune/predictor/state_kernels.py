"""State of one example: known features, current nodes of the trees, and bounds.

The state depends only on the known values, not on the order in which they were acquired. So stepwise
acquisition and simulation of a row reach the same states.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.string import memcpy
else:
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
        self.n_places = n_places
        self.row = np.zeros(n_features)  # values; only known ones are read
        self.single = np.zeros(n_features + 1, dtype=np.float32)  # values in single precision
        block = np.zeros((), dtype=_block_type(trees, n_sources, n_places))
        self.block = block.reshape(1).view(np.uint8)
        self.known, self.known_array = block["known"], block["known"][:n_features]
        self.n_waiting, self.need = block["n_waiting"], block["need"]
        self.acquired, self.is_available = block["acquired"], block["is_available"]
        self.node, self.span = block["node"], block["span"]
        self.low, self.high, self.side_bounds = block["low"], block["high"], block["side_bounds"]
        self.n_window, self.marks = block["n_window"], block["marks"]
        self.window_node, self.window_share = block["window_node"], block["window_share"]
        self.window_feature, self.window_need = block["window_feature"], block["window_need"]
        self.least, self.most = block["least"], block["most"]
        block["is_available"] = True
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
        # New bounds of a tree.
        self.fresh_low = np.empty(trees.n_columns, dtype=np.int32)
        self.fresh_high = np.empty(trees.n_columns, dtype=np.int32)
        self.due = np.empty(n_trees, dtype=np.int64)
        self.moved = np.empty(n_trees, dtype=np.int64)
        # Nodes from which `descend_together` descends, and the numbers of those that are still on their way.
        self.cursor = np.empty(2 * n_trees, dtype=np.int64)
        self.active = np.empty(2 * n_trees, dtype=np.int64)
        self.gain = np.empty(n_sources, dtype=np.int64)  # by source
        self.bundle = np.empty(n_features, dtype=np.int32)  # features that lack several sources


def _block_type(trees: BoundedTrees, n_sources: int, n_places: int) -> np.dtype[np.void]:
    """Type of everything that `copy_state` copies, in one piece of memory."""
    n_trees, n_features = trees.n_trees, trees.n_features
    by_tree, by_side, by_place = (n_trees,), (2 * n_trees,), (n_places * n_trees,)
    # Leaves are like splits on one more feature, which is never known. So steps need no branches for leaves,
    # which the processor would often mispredict.
    by_feature = (n_features + 1,)
    fields = [
        ("n_waiting", np.int64, by_feature),  # trees that wait for it
        ("need", np.int64, by_feature),
        # The current node, a leaf or the first split on an unknown feature.
        ("node", np.int64, by_tree),
        # The difference of the bounds of its possible values, without slack, added up over directions.
        ("span", np.int64, by_tree),
        # The window of splits on unknown features, at the current node or after it; none if that one is a
        # leaf. Leaves after it are in the window, too. There is room for `n_places` per tree.
        ("n_window", np.int64, by_tree),
        ("window_node", np.int64, by_place),
        ("window_need", np.int64, by_place),
        ("window_share", np.float64, by_place),  # probability to reach it
        ("marks", np.uint64, by_tree),  # of the features in the window: bit `k % 64` for feature k
        # Sums over trees: bounds of all directions, less the slack.
        ("least", np.int64, (trees.base.shape[1],)),
        ("most", np.int64, (trees.base.shape[1],)),
        ("window_feature", np.int32, by_place),
        # Bounds of its possible values, less the slack.
        ("low", np.int32, (n_trees * trees.n_columns,)),
        ("high", np.int32, (n_trees * trees.n_columns,)),
        ("side_bounds", np.uint32, by_side),  # if the look-ahead is 1, the number of the bounds at each side
        ("known", np.bool_, by_feature),
        ("acquired", np.bool_, (n_sources,)),
        ("is_available", np.bool_, (n_sources,)),
    ]
    return np.dtype(fields, align=True)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_state(origin: State, to: State) -> cython.void:
    """Copy a state into another one, without the row and without scratch memory."""
    if cython.compiled:
        memcpy(cython.address(to.block[0]), cython.address(origin.block[0]), origin.block.shape[0])
    else:
        to.block[:] = origin.block


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
