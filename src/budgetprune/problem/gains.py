"""Second-order gains of the splits of a boosted ensemble on any rows, by round."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.losses import find_loss
from budgetprune.problem.rows import RoutedRows, TreeRows, rows_at
from budgetprune.utils.jit import njit, prange


class NewtonSums(NamedTuple):
    """Second-order change of the loss of a node's rows: G v + H v^2 / 2 for a value v.

    Both of shape (n_nodes, n_values), in units of weight; trees that feed one output use the first column.
    """

    gradient: NDArray[np.float64]  # G
    curvature: NDArray[np.float64]  # H


def measured_gains(
    forest: Forest, rows: RoutedRows, target: NDArray[Any], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Increase of the rows' total loss if a split becomes a leaf: one number per node, 0 at leaves.

    Parameters
    ----------
    forest : Forest
        Boosted, with a supported loss.
    rows : RoutedRows
    target : array of shape (n_rows,)
        Class index of each row, or for regression its target.
    weight : float64 array of shape (n_rows,)
    """
    return split_gains(forest, newton_sums(forest, rows, target, weight))


def newton_sums(
    forest: Forest, rows: RoutedRows, target: NDArray[Any], weight: NDArray[np.float64]
) -> NewtonSums:
    """Add up each row's derivatives at the nodes that it reaches, at the scores before the tree's round."""
    assert forest.tree_round is not None
    assert forest.loss is not None
    loss = find_loss(forest.loss)
    sums = NewtonSums(np.zeros(forest.value.shape), np.zeros(forest.value.shape))
    # One row per output, since a tree that feeds one output reads no other.
    total = np.repeat(forest.base[:, np.newaxis], weight.size, axis=1)
    node_rows = TreeRows.of(forest, rows)
    borders = [0, *(np.flatnonzero(np.diff(forest.tree_round)) + 1), forest.n_trees]
    for first, last in pairwise(borders):
        by_row = loss.derivatives(total.T / forest.divisor, target)
        gradient, curvature = (np.ascontiguousarray(part.T) * weight for part in by_row)
        sum_derivatives(sums, first, last, node_rows, forest.tree_output, gradient, curvature)
        add_scores(total, first, last, node_rows, forest.tree_output, forest.value)
    return sums


def split_gains(forest: Forest, sums: NewtonSums) -> NDArray[np.float64]:
    """Compare each split's value with those of its children, on the rows that reach them."""
    split = np.flatnonzero(forest.is_split)
    own = forest.value[split] / forest.divisor
    gain = np.zeros(forest.n_nodes)
    for child in (forest.left[split], forest.right[split]):
        value = forest.value[child] / forest.divisor
        # Difference of G v + H v^2 / 2 at both values, factored so that it is exactly 0 where they are equal.
        slope = sums.gradient[child] + sums.curvature[child] * ((own + value) / 2)
        gain[split] += ((own - value) * slope).sum(axis=1)
    return gain


# --- Kernels ------------------------------------------------------------------------------------------------


@njit(cache=True)
def sum_derivatives_of_tree(
    gradient_sum: NDArray[np.float64],
    curvature_sum: NDArray[np.float64],
    t: int,
    rows: TreeRows,
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> None:
    """Add up the derivatives by one output at each node of one tree."""
    right, root, end = rows.right, rows.tree_start[t], rows.tree_start[t + 1]
    for h in range(end - 1, root - 1, -1):  # pre-order backwards: children first
        if right[h] >= 0:
            gradient_sum[h] = gradient_sum[h + 1] + gradient_sum[right[h]]
            curvature_sum[h] = curvature_sum[h + 1] + curvature_sum[right[h]]
        else:
            for i in rows_at(rows, t, h):
                gradient_sum[h] += gradient[i]
                curvature_sum[h] += curvature[i]


@njit(cache=True, parallel=True)
def sum_derivatives(
    sums: NewtonSums,
    first: int,
    last: int,
    rows: TreeRows,
    tree_output: NDArray[np.int32],
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> None:
    """Add up the derivatives at each node of the trees from `first` to `last`."""
    for t in prange(first, last):
        for k in range(gradient.shape[0]):
            if tree_output[t] < 0 or tree_output[t] == k:
                column = k if tree_output[t] < 0 else 0
                sum_derivatives_of_tree(
                    sums.gradient[:, column], sums.curvature[:, column], t, rows, gradient[k], curvature[k]
                )


@njit(cache=True)
def add_scores_of_tree(
    total: NDArray[np.float64], t: int, rows: TreeRows, value: NDArray[np.float64]
) -> None:
    """Add the output of one tree to the rows' scores, for one output."""
    for h in range(rows.tree_start[t], rows.tree_start[t + 1]):
        if rows.right[h] < 0:
            for i in rows_at(rows, t, h):
                total[i] += value[h]


@njit(cache=True, parallel=True)
def add_scores(
    total: NDArray[np.float64],
    first: int,
    last: int,
    rows: TreeRows,
    tree_output: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None:
    """Add the outputs of the trees from `first` to `last` to the rows' scores."""
    for k in prange(total.shape[0]):  # not by tree: several may feed the same output
        for t in range(first, last):
            if tree_output[t] == k:
                add_scores_of_tree(total[k], t, rows, value[:, 0])
            elif tree_output[t] < 0:
                add_scores_of_tree(total[k], t, rows, value[:, k])


@njit(cache=True)
def sums_below(right: NDArray[np.int32], amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up an amount over the subtree of each node."""
    total = amount.copy()
    for h in range(right.size - 1, -1, -1):
        if right[h] >= 0:
            total[h] += total[h + 1] + total[right[h]]
    return total
