"""Kernels on the shape of trees: order, parents, children, depths, and values of inner nodes."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import (
        Flags,
        Ints,
        Longs,
        OutDoubles,
        OutDoubles2,
        OutInts,
        OutLongs,
        Size,
        int32_t,
    )


def preorder(tree_start: Longs, left: Longs, right: Longs) -> NDArray[np.int64]:
    """List the nodes reachable from the roots: a node, then its left subtree, then its right one.

    No node may be the child of two splits, and no root the child of any.
    """
    reached = np.empty(left.shape[0], dtype=np.int64)
    order: OutLongs = reached
    waiting: OutLongs = np.empty(left.shape[0], dtype=np.int64)
    n_done: Size = 0
    n_waiting: Size
    t: Size
    h: Size
    for t in range(tree_start.shape[0] - 1):
        waiting[0] = tree_start[t]
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            h = waiting[n_waiting]
            order[n_done] = h
            n_done += 1
            if left[h] >= 0:
                waiting[n_waiting] = right[h]
                waiting[n_waiting + 1] = left[h]
                n_waiting += 2
    return reached[:n_done]


def link(tree_start: Longs, is_split: Flags, parent: OutInts, left: OutInts, right: OutInts) -> bool:
    """Fill in parents and children; return False if a tree has too many or too few nodes."""
    waiting: OutInts = np.empty(is_split.shape[0], dtype=np.int32)  # splits without a right child
    n_waiting: Size
    t: Size
    h: Size
    above: Size
    for t in range(tree_start.shape[0] - 1):
        n_waiting = 0
        for h in range(tree_start[t], tree_start[t + 1]):
            if h > tree_start[t]:
                if n_waiting == 0:
                    return False
                above = waiting[n_waiting - 1]
                parent[h] = cython.cast(int32_t, above)
                if left[above] < 0:
                    left[above] = cython.cast(int32_t, h)
                else:
                    right[above] = cython.cast(int32_t, h)
                    n_waiting -= 1
            if is_split[h]:
                waiting[n_waiting] = cython.cast(int32_t, h)
                n_waiting += 1
        if n_waiting > 0:
            return False
    return True


def depths(parent: Ints) -> NDArray[np.int32]:
    """Count the splits above each node; parents must come before their children."""
    counted = np.zeros(parent.shape[0], dtype=np.int32)
    depth: OutInts = counted
    h: Size
    for h in range(parent.shape[0]):
        if parent[h] >= 0:
            depth[h] = depth[parent[h]] + 1
    return counted


def mean_of_leaves(
    right: Ints, value: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Set inner nodes to the mean of the leaves below them, for libraries that store no comparable value.

    Parameters
    ----------
    right : right child of each node of trees in pre-order, -1 at leaves
    value : of shape (n_nodes, n_values); only the leaves' entries are read
    weight : of each node; only the leaves' entries are read

    Returns
    -------
    A copy of `value` with weighted means at inner nodes, plain means of both children where no leaf below
    has any weight.
    """
    means = np.array(value, dtype=np.float64, order="C")
    mean: OutDoubles2 = means
    below: OutDoubles = np.array(weight, dtype=np.float64)
    h: Size
    b: Size
    k: Size
    for h in range(right.shape[0] - 1, -1, -1):  # children come after their parents
        if right[h] >= 0:
            b = right[h]
            below[h] = below[h + 1] + below[b]
            share: cython.double = below[h + 1] / below[h] if below[h] > 0.0 else 0.5
            for k in range(mean.shape[1]):
                mean[h, k] = share * mean[h + 1, k] + (1.0 - share) * mean[b, k]
    return means


def sum_of_leaves(right: Ints, amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the leaves below every node of trees in pre-order; leaves keep their own values.

    `amount` and the result are of shape (n_nodes, n_amounts).
    """
    sums = np.array(amount, dtype=np.float64, order="C")
    total: OutDoubles2 = sums
    h: Size
    k: Size
    for h in range(right.shape[0] - 1, -1, -1):
        if right[h] >= 0:
            for k in range(total.shape[1]):
                total[h, k] = total[h + 1, k] + total[right[h], k]
    return sums


def first_misplaced(
    tree_start: Longs, parent: Ints, left: Ints, right: Ints, feature: Ints
) -> tuple[int, int]:
    """Find a node that violates pre-order, and an error code; code 0 if there is none.

    In reverse order, both subtrees of a split are known before the split: the left one begins after it, the
    right one where the left one ends. `tree_start` must increase from 0 to the number of nodes; nothing else
    is assumed, so only entries within these arrays are read.
    """
    n_nodes: Size = feature.shape[0]
    end: OutLongs = np.empty(n_nodes, dtype=np.int64)  # the subtree of h is h, ..., end[h] - 1
    h: Size
    t: Size
    for h in range(n_nodes - 1, -1, -1):
        if feature[h] < 0:
            if left[h] != -1 or right[h] != -1:
                return h, 1
            end[h] = h + 1
            continue
        if left[h] != h + 1:
            return h, 2
        if h + 1 == n_nodes or end[h + 1] == n_nodes or right[h] != end[h + 1]:
            return h, 3
        if parent[h + 1] != h or parent[right[h]] != h:
            return h, 4
        end[h] = end[right[h]]
    for t in range(tree_start.shape[0] - 1):
        if parent[tree_start[t]] != -1:
            return tree_start[t], 4
        if end[tree_start[t]] != tree_start[t + 1]:
            return tree_start[t], 5
    return -1, 0
