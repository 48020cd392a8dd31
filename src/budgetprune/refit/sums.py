"""Sums of leaves over each row (Z x) and of rows over each leaf (Z' r), on several threads.

Every gradient needs both: if Z is the matrix of "row i stops at leaf l", scores are Z x, and
gradients are Z' r. Z is never built; `stop[t, i]` is the leaf of row i in tree t. Both functions *add to* an
existing array (a base score, a ridge term, or zeros), so that no memory is allocated per step.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from budgetprune.refit import kernels
from budgetprune.utils.parts import in_ranges


def add_scores(
    stop: NDArray[np.int32],
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:
    """Add Z x: the values of the leaves where each row stops, to scores of shape (n_rows, n_outputs).

    A score is a sum in the order of the trees, whatever the number of threads.
    """
    in_ranges(
        partial(kernels.add_scores, stop, value, tree_output, scores),
        stop.shape[1],
        stop.size,
    )


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
    in_ranges(
        partial(kernels.add_sums, stop, amount, tree_output, sums),
        stop.shape[0],
        stop.size,
    )
