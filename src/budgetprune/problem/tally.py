"""Statistics of the rows that reach each node, summed from the leaves upwards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.problem.kernels import sum_classes, sum_moments
from budgetprune.problem.rows import RoutedRows, tree_rows
from budgetprune.utils.parts import in_ranges

# "Each row counts once in each tree" (no matrix of ones is needed).
_ONCE = np.empty((0, 0), dtype=np.int32)


def tally_rows(
    forest: Forest,
    rows: RoutedRows,
    target: NDArray[Any],
    weight: NDArray[np.float64],
    times: NDArray[np.int32] | None = None,
) -> NDArray[np.float64]:
    """Tally at each node the rows that reach it; row i counts `times[t, i]` times (None: once) in tree t.

    Returns
    -------
    tally : float64 array of shape (n_nodes, n_classes) or, for regression, (n_nodes, 3)
        Weight of each class; weight, mean and scatter of the targets.
    """
    tally = np.zeros((forest.n_nodes, forest.classes.size if forest.classes is not None else 3))
    arrays = tree_rows(forest, rows), target, weight, _ONCE if times is None else times, tally
    kernel = sum_moments if forest.classes is None else sum_classes
    in_ranges(lambda first, last: kernel(first, last, *arrays), forest.n_trees, n_steps=rows.order.size)
    return tally


def reached_weight(forest: Forest, rows: RoutedRows, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of the rows that reach each node: a tally in which all are of one class."""
    tally = np.zeros((forest.n_nodes, 1))
    arrays = tree_rows(forest, rows), np.zeros(weight.size, dtype=np.int64), weight, _ONCE, tally
    in_ranges(lambda first, last: sum_classes(first, last, *arrays), forest.n_trees, n_steps=rows.order.size)
    return tally[:, 0]
