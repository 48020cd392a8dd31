"""Kernels that sum leaves over each row (Z x) and rows over each leaf (Z' r).

Every gradient needs both: if Z is the matrix of "row i stops at leaf l", scores are Z x, and
gradients are Z' r. Z is never built; `stop[t, i]` is the leaf of row i in tree t. Both kernels *add to* an
existing array (a base score, a ridge term, or zeros), so that no memory is allocated per step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit, prange


@njit(cache=True, parallel=True)
def add_scores(
    stop: NDArray[np.int32],
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    scores: NDArray[np.float64],
    n_blocks: int,
) -> None:
    """Add Z x: the values of the leaves where each row stops, to scores of shape (n_rows, n_outputs).

    Best with one block of rows per thread: it goes from tree to tree, so that rows are read one after the
    other and one tree's leaves stay in the cache (about 1.6 x faster than row by row, for 20 trees and
    40,000 rows). A score is a sum in the order of the trees, whatever the number of blocks.
    """
    n_trees, n_rows = stop.shape
    for block in prange(n_blocks):
        for t in range(n_trees):
            output = tree_output[t]
            for i in range(block * n_rows // n_blocks, (block + 1) * n_rows // n_blocks):
                leaf = stop[t, i]
                if output >= 0:
                    scores[i, output] += value[leaf, 0]
                else:
                    for k in range(scores.shape[1]):
                        scores[i, k] += value[leaf, k]


@njit(cache=True, parallel=True)
def add_sums(
    stop: NDArray[np.int32],
    amount: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    sums: NDArray[np.float64],
) -> None:
    """Add Z' r: the amounts of the rows that stop at each leaf, to sums of shape (n_leaves, n_values).

    Each tree's leaves belong to one thread, and rows are added in their order: the sum is the same on any
    number of threads.
    """
    n_trees, n_rows = stop.shape
    for t in prange(n_trees):
        output = tree_output[t]
        for i in range(n_rows):
            leaf = stop[t, i]
            if output >= 0:
                sums[leaf, 0] += amount[i, output]
            else:
                for k in range(sums.shape[1]):
                    sums[leaf, k] += amount[i, k]
