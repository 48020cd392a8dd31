"""Expected scores of trees if some features are unknown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.expected_kernels import add_expected
from budgetprune.forest.forest import Forest
from budgetprune.forest.kernels import Trees
from budgetprune.forest.packed import tree_arrays
from budgetprune.utils.threads import in_threads

# Rows per thread and kernel call, which takes milliseconds.
BLOCK = 256


def expected_values(
    forest: Forest, rows: NDArray[np.float64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the expected values of the trees; at tests of unknown features, both sides are averaged.

    Parameters
    ----------
    forest : Forest
    rows : of shape (n_rows, n_features)
    known : bool array of shape (n_features,)

    Returns
    -------
    scores : of shape (n_rows, n_outputs), with the base, without the divisor
    deviation : of the same shape
        Sum of the standard deviations of the trees. This is an upper bound of the standard deviation of the
        score, reached if the errors of all trees are fully correlated; they are correlated, because the trees
        lack the same features.
    """
    scores, deviation = np.tile(forest.base, (len(rows), 1)), np.zeros((len(rows), forest.base.size))
    trees = Trees(*tree_arrays(forest))

    def add(first: int) -> None:
        block = slice(first, first + BLOCK)
        add_expected(
            rows[block],
            known,
            trees,
            forest.feature,
            forest.right,
            forest.weight,
            forest.value,
            forest.tree_output,
            scores[block],
            deviation[block],
        )

    in_threads(add, range(0, len(rows), BLOCK))
    return scores, deviation
