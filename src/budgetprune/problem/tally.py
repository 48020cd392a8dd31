"""Statistics of the rows that reach each node, summed from the leaves upwards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.problem.rows import RoutedRows, TreeRows, rows_at
from budgetprune.utils.jit import njit, prange


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
    if times is None:
        times = np.ones(rows.order.shape, dtype=np.int32)
    arrays = TreeRows.of(forest, rows), target, weight, times
    if forest.classes is None:
        moments: NDArray[np.float64] = tally_moments(*arrays)
        return moments
    classes: NDArray[np.float64] = tally_classes(*arrays, forest.classes.size)
    return classes


def reached_weight(forest: Forest, rows: RoutedRows, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of the rows that reach each node: a tally in which all are of one class."""
    once = np.ones(rows.order.shape, dtype=np.int32)
    number = np.zeros(weight.size, dtype=np.int64)
    tally: NDArray[np.float64] = tally_classes(TreeRows.of(forest, rows), number, weight, once, 1)
    return tally[:, 0]


@njit(cache=True)
def tally_classes_of_tree(
    tally: NDArray[np.float64],
    t: int,
    rows: TreeRows,
    number: NDArray[np.int64],
    weight: NDArray[np.float64],
    times: NDArray[np.int32],
) -> None:
    """Add up the weight of each class at each node of one tree."""
    right, root, end = rows.right, rows.tree_start[t], rows.tree_start[t + 1]
    for h in range(end - 1, root - 1, -1):  # pre-order backwards: children first
        if right[h] >= 0:
            for k in range(tally.shape[1]):
                tally[h, k] = tally[h + 1, k] + tally[right[h], k]
        else:
            for i in rows_at(rows, t, h):
                tally[h, number[i]] += weight[i] * times[i]


@njit(cache=True, parallel=True)
def tally_classes(
    rows: TreeRows,
    number: NDArray[np.int64],
    weight: NDArray[np.float64],
    times: NDArray[np.int32],
    n_classes: int,
) -> NDArray[np.float64]:
    """Add up the weight of each class at each node, where row i counts `times[t, i]` times in tree t."""
    tally = np.zeros((rows.right.size, n_classes))
    for t in prange(rows.tree_start.size - 1):
        tally_classes_of_tree(tally, t, rows, number, weight, times[t])
    return tally


@njit(cache=True)
def tally_moments_of_tree(
    tally: NDArray[np.float64],
    t: int,
    rows: TreeRows,
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    times: NDArray[np.int32],
) -> None:
    """Find weight, mean and scatter (weighted sum of squares around the mean) at each node of one tree."""
    right, root, end = rows.right, rows.tree_start[t], rows.tree_start[t + 1]
    for h in range(end - 1, root - 1, -1):
        if right[h] >= 0:
            tally[h] = tally[h + 1]
            merge_moments(tally[h], tally[right[h], 0], tally[right[h], 1], tally[right[h], 2])
        else:
            for i in rows_at(rows, t, h):
                merge_moments(tally[h], weight[i] * times[i], target[i], 0.0)


@njit(cache=True)
def merge_moments(into: NDArray[np.float64], weight: float, mean: float, scatter: float) -> None:
    """Add one group's weight, mean and scatter to another's.

    Squares are taken around means, never around zero: targets may be large and differ little.
    """
    if weight > 0:
        both = into[0] + weight
        step = mean - into[1]
        into[2] += scatter + step * step * (into[0] * weight / both)
        into[1] += step * (weight / both)
        into[0] = both


@njit(cache=True, parallel=True)
def tally_moments(
    rows: TreeRows,
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    times: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Find weight, mean and scatter of the targets at each node, of shape (n_nodes, 3)."""
    tally = np.zeros((rows.right.size, 3))
    for t in prange(rows.tree_start.size - 1):
        tally_moments_of_tree(tally, t, rows, target, weight, times[t])
    return tally
