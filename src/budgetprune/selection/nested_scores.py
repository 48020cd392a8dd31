"""Scores of nested prunings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit, prange


@njit(cache=True, parallel=True)
def scores_of_nested_prunings(
    stop: NDArray[np.int32],
    parent: NDArray[np.int32],
    until: NDArray[np.int64],
    n_points: int,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum the trees for nested prunings, of shape (n_points, n_rows, n_outputs), in the order of the trees.

    Split h stays in the first `until[h]` prunings. On the way of a row from its leaf to the root, each node
    gives the tree's value for the prunings from its own `until` to that of its parent::

        leaf    0 |--- leaf ---|                                       until = 0
        inner h                |--- h ---|                             until[h]
        root                             |--- root ---| n_points       until[root]
    """
    n_trees, n_rows = stop.shape
    scores = np.empty((n_points, n_rows, base.size))
    for i in prange(n_rows):
        for j in range(n_points):
            scores[j, i] = base
        for t in range(n_trees):
            h, first = stop[t, i], 0
            while first < n_points:
                above = parent[h]
                last = n_points if above < 0 else until[above]
                for j in range(first, last):
                    if tree_output[t] >= 0:
                        scores[j, i, tree_output[t]] += value[h, 0]
                    else:
                        for k in range(base.size):
                            scores[j, i, k] += value[h, k]
                first, h = last, above
    return scores
