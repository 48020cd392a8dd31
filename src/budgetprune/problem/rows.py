"""Rows that reach each node (S_h of the paper), for all nodes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest, PackedTrees, goes_left, numba_pack
from budgetprune.utils.arrays import frozen
from budgetprune.utils.jit import njit, prange


@dataclass(frozen=True, eq=False)
class RoutedRows:
    """Rows in leaf order: those that reach a node are one contiguous range, so no node needs a list.

    Attributes
    ----------
    order : int32 array of shape (n_trees, n_rows)
        The rows in the order of the leaves that they reach in each tree; ascending within a leaf.
    start, stop : int32 arrays of shape (n_nodes,)
        Node `h` of tree `t` is reached by the rows ``order[t, start[h]:stop[h]]``.
    """

    order: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]


class TreeRows(NamedTuple):
    """Input of the kernels that sum over the rows of each node; see `Forest` and `RoutedRows`."""

    tree_start: NDArray[np.int64]
    right: NDArray[np.int32]
    order: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]

    @classmethod
    def of(cls, forest: Forest, rows: RoutedRows) -> TreeRows:
        """Combine the shape of the trees with the rows that reach their nodes."""
        return cls(forest.tree_start, forest.right, rows.order, rows.start, rows.stop)


@njit(cache=True)
def rows_at(rows: TreeRows, t: int, h: int) -> NDArray[np.int32]:
    """Rows that reach node `h` of tree `t`."""
    return rows.order[t, rows.start[h] : rows.stop[h]]


def route(forest: Forest, X: NDArray[Any]) -> RoutedRows:
    """Route the rows of `X` (as `Forest.prepare_rows` returns them) through all trees."""
    order, start, stop = partition(
        np.ascontiguousarray(X.T),  # a split reads one feature of many rows
        forest.right,
        forest.feature,
        numba_pack(forest),
    )
    return RoutedRows(*map(frozen, (order, start, stop)))


@njit(cache=True)
def sides_of_threshold(
    is_left: NDArray[np.bool_],
    column: NDArray[Any],
    rows: NDArray[np.int32],
    threshold: float,
    missing_left: bool,
) -> None:
    """Find which rows go left at a plain threshold split.

    `goes_left` returns the same, but a call with so many arrays costs thirty times the comparison, and nearly
    all splits are of this kind.
    """
    for q in range(rows.size):
        x = column[rows[q]]
        is_left[q] = x <= threshold or (missing_left and np.isnan(x))


@njit(cache=True)
def partition_node(rows: NDArray[np.int32], is_left: NDArray[np.bool_], went_right: NDArray[np.int32]) -> int:
    """Move the rows that go left to the front, each side in its old order; return their number::

    rows   | rows of h                            |   before
           | rows of left(h)  | rows of right(h)  |   after
    """
    n_left = n_right = 0
    for q in range(rows.size):
        # Each row is written to both sides, but only one counter advances. So there is no branch that the
        # processor could mispredict.
        rows[n_left] = went_right[n_right] = rows[q]
        n_left += is_left[q]
        n_right += not is_left[q]
    rows[n_left:] = went_right[:n_right]
    return n_left


@njit(cache=True)
def partition_tree(
    columns: NDArray[Any],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    root: int,
    end: int,
    right: NDArray[np.int32],
    feature: NDArray[np.int32],
    trees: PackedTrees,
) -> None:
    """Partition the rows at each split of one tree, parents first."""
    order[:] = np.arange(order.size)
    is_left = np.empty(order.size, dtype=np.bool_)
    went_right = np.empty_like(order)
    start[root], stop[root] = 0, order.size
    for h in range(root, end):
        if feature[h] < 0:
            continue
        rows, column = order[start[h] : stop[h]], columns[feature[h]]
        if trees.category_set[h] < 0 and not trees.zero_is_missing:
            sides_of_threshold(is_left, column, rows, trees.threshold[h], trees.missing_left[h])
        else:
            for q in range(rows.size):
                is_left[q] = goes_left(
                    column[rows[q]],
                    h,
                    trees.threshold,
                    trees.missing_left,
                    trees.category_set,
                    trees.category_start,
                    trees.category_bits,
                    trees.zero_is_missing,
                )
        middle = start[h] + partition_node(rows, is_left, went_right)
        start[h + 1], stop[h + 1] = start[h], middle
        start[right[h]], stop[right[h]] = middle, stop[h]


@njit(cache=True, parallel=True)
def partition(
    columns: NDArray[Any],
    right: NDArray[np.int32],
    feature: NDArray[np.int32],
    trees: PackedTrees,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Partition the rows in every tree: their order, and the range of each node."""
    n_trees = trees.tree_start.size - 1
    order = np.empty((n_trees, columns.shape[1]), dtype=np.int32)
    start = np.empty(feature.size, dtype=np.int32)
    stop = np.empty(feature.size, dtype=np.int32)
    for t in prange(n_trees):
        root, end = trees.tree_start[t], trees.tree_start[t + 1]
        partition_tree(columns, order[t], start, stop, root, end, right, feature, trees)
    return order, start, stop
