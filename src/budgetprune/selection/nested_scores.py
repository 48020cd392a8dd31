"""Scores of nested prunings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.selection.kernels import sum_nested_prunings
from budgetprune.utils.parts import in_ranges


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

    Parameters
    ----------
    stop : int32 array of shape (n_trees, n_rows)
        Leaf of each row in each tree.
    parent, value, tree_output, base : as in `Forest`
    until : int64 array of shape (n_nodes,)
        Number of prunings that keep each split, the first ones; 0 at leaves.
    n_points : int
        Number of prunings.
    """
    scores = np.empty((n_points, stop.shape[1], base.size))
    in_ranges(
        lambda first, last: sum_nested_prunings(
            first, last, stop, parent, until, value, tree_output, base, scores
        ),
        stop.shape[1],
        n_steps=stop.size * (2 + n_points),
    )
    return scores
