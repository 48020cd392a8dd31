"""Kernels between leaves and rows: what leaves add up to on each row, and what rows add up to in each leaf.

These are the two halves of every gradient: if Z is the matrix of "row i stops at leaf l", scores are Z x, and
gradients are Z' r. Z is never built; `stop[t, i]` says where row i stops in tree t.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

# Rows that a thread adds up for one tree before it turns to the next: the tree's leaves stay in the cache.
BLOCK = 2048


@njit(cache=True, parallel=True)
def scores_of_leaves(
    stop: NDArray[np.int32], value: NDArray[np.float64], tree_output: NDArray[np.int32], n_outputs: int
) -> NDArray[np.float64]:
    """Z x: add up the values of the leaves where each row stops, of shape (n_rows, n_outputs)."""
    n_trees, n_rows = stop.shape
    scores = np.zeros((n_rows, n_outputs))
    for block in prange((n_rows + BLOCK - 1) // BLOCK):
        for t in range(n_trees):
            output = tree_output[t]
            for i in range(block * BLOCK, min(n_rows, (block + 1) * BLOCK)):
                leaf = stop[t, i]
                if output >= 0:
                    scores[i, output] += value[leaf, 0]
                else:
                    for k in range(n_outputs):
                        scores[i, k] += value[leaf, k]
    return scores


@njit(cache=True, parallel=True)
def sums_in_leaves(
    stop: NDArray[np.int32],
    amount: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    n_leaves: int,
    n_values: int,
) -> NDArray[np.float64]:
    """Z' r: add up an amount over the rows that stop at each leaf, of shape (n_leaves, n_values).

    Each tree's leaves belong to one thread, and rows are added in their order: the sum is the same on any
    number of threads.
    """
    n_trees, n_rows = stop.shape
    sums = np.zeros((n_leaves, n_values))
    for t in prange(n_trees):
        output = tree_output[t]
        for i in range(n_rows):
            leaf = stop[t, i]
            if output >= 0:
                sums[leaf, 0] += amount[i, output]
            else:
                for k in range(n_values):
                    sums[leaf, k] += amount[i, k]
    return sums
