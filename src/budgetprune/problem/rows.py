"""Rows that reach each node (S_h of the paper), for all nodes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.problem.kernels import TreeRows, sort_by_leaf
from budgetprune.utils.arrays import frozen
from budgetprune.utils.parts import in_ranges


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


def tree_rows(forest: Forest, rows: RoutedRows) -> TreeRows:
    """Combine the shape of the trees with the rows that reach their nodes, for kernels."""
    return TreeRows(forest.tree_start, forest.right, rows.order, rows.start, rows.stop)


def route(forest: Forest, X: NDArray[Any]) -> RoutedRows:
    """Route the rows of `X` (as `Forest.prepare_rows` returns them) through all trees."""
    return sort_rows(forest, forest.leaves_by_tree(X))


def sort_rows(forest: Forest, leaf: NDArray[np.int32]) -> RoutedRows:
    """Sort rows by leaf, given the leaf that each reaches in each tree: an array that is reused."""
    order = leaf
    start, stop = np.empty(forest.n_nodes, dtype=np.int32), np.zeros(forest.n_nodes, dtype=np.int32)
    in_ranges(
        lambda first, last: sort_by_leaf(first, last, forest.tree_start, forest.right, order, start, stop),
        forest.n_trees,
        n_steps=3 * order.size,
    )
    return RoutedRows(*map(frozen, (order, start, stop)))
