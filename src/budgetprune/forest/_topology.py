"""Kernels that know only the shape of the trees: who is whose child."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def preorder(
    tree_start: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.int64]:
    """List the nodes of every tree so that parents come before children and left subtrees before right ones.

    Trees grown best-first (`max_leaf_nodes`) number their nodes as they were found; the rest of the package
    relies on pre-order, where a subtree is a contiguous range and the left child is the next node.

    Parameters
    ----------
    tree_start : offsets of each tree's nodes; a tree's root is its first node
    left, right : absolute numbers of the children, negative at leaves

    Returns
    -------
    order : the old number of each new node
    """
    order = np.empty(left.size, dtype=np.int64)
    waiting = np.empty(left.size, dtype=np.int64)
    n_done = 0
    for t in range(tree_start.size - 1):
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
    return order


@njit(cache=True)
def depths(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """Count the splits above each node; parents must come before their children."""
    depth = np.zeros(parent.size, dtype=np.int32)
    for h in range(parent.size):
        if parent[h] >= 0:
            depth[h] = depth[parent[h]] + 1
    return depth
