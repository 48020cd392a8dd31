"""Second-order gains of the splits of a boosted ensemble on any rows, by round."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.losses import find_loss
from budgetprune.problem.rows import RoutedRows
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
        Boosted, with a loss that we know.
    rows : RoutedRows
    target : array of shape (n_rows,)
        Number of each row's class, or for regression its target.
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
    # One line per output, as a tree that feeds one output reads no other.
    total = np.repeat(forest.base[:, np.newaxis], weight.size, axis=1)
    trees = forest.tree_start, forest.right, rows.order, rows.start, rows.stop, forest.tree_output
    borders = [0, *(np.flatnonzero(np.diff(forest.tree_round)) + 1), forest.n_trees]
    for first, last in pairwise(borders):
        by_row = loss.derivatives(total.T / forest.divisor, target)
        gradient, curvature = (np.ascontiguousarray(part.T) * weight for part in by_row)
        add_up_round(sums, first, last, *trees, gradient, curvature)
        answer_round(total, first, last, *trees, forest.value)
    return sums


def split_gains(forest: Forest, sums: NewtonSums) -> NDArray[np.float64]:
    """Compare each split's value with those of its children, on the rows that reach them."""
    split = np.flatnonzero(forest.is_split)
    own = forest.value[split] / forest.divisor
    gain = np.zeros(forest.n_nodes)
    for child in (forest.left[split], forest.right[split]):
        answer = forest.value[child] / forest.divisor
        # G v + H v^2 / 2 at both answers, subtracted by hand: 0 where they agree, whatever G and H are.
        slope = sums.gradient[child] + sums.curvature[child] * ((own + answer) / 2)
        gain[split] += ((own - answer) * slope).sum(axis=1)
    return gain


# --- Kernels ------------------------------------------------------------------------------------------------


@njit(cache=True)
def add_up_column(
    gradient_sum: NDArray[np.float64],
    curvature_sum: NDArray[np.float64],
    root: int,
    end: int,
    right: NDArray[np.int32],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> None:
    """Add up the derivatives by one output at each node of one tree."""
    for h in range(end - 1, root - 1, -1):  # pre-order backwards: children first
        if right[h] >= 0:
            gradient_sum[h] = gradient_sum[h + 1] + gradient_sum[right[h]]
            curvature_sum[h] = curvature_sum[h + 1] + curvature_sum[right[h]]
        else:
            for q in range(start[h], stop[h]):
                gradient_sum[h] += gradient[order[q]]
                curvature_sum[h] += curvature[order[q]]


@njit(cache=True, parallel=True)
def add_up_round(
    sums: NewtonSums,
    first: int,
    last: int,
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    tree_output: NDArray[np.int32],
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> None:
    """Add up the derivatives at each node of the trees from `first` to `last`."""
    for t in prange(first, last):
        root, end = tree_start[t], tree_start[t + 1]
        for k in range(gradient.shape[0]):
            if tree_output[t] < 0 or tree_output[t] == k:
                column = k if tree_output[t] < 0 else 0
                add_up_column(
                    sums.gradient[:, column],
                    sums.curvature[:, column],
                    root,
                    end,
                    right,
                    order[t],
                    start,
                    stop,
                    gradient[k],
                    curvature[k],
                )


@njit(cache=True)
def answer_tree(
    total: NDArray[np.float64],
    root: int,
    end: int,
    right: NDArray[np.int32],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None:
    """Add the output of one tree to the rows' scores, for one output."""
    for h in range(root, end):
        if right[h] < 0:
            for q in range(start[h], stop[h]):
                total[order[q]] += value[h]


@njit(cache=True, parallel=True)
def answer_round(
    total: NDArray[np.float64],
    first: int,
    last: int,
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    tree_output: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None:
    """Add the outputs of the trees from `first` to `last` to the rows' scores."""
    for k in prange(total.shape[0]):  # not by tree: several may feed the same output
        for t in range(first, last):
            root, end = tree_start[t], tree_start[t + 1]
            if tree_output[t] == k:
                answer_tree(total[k], root, end, right, order[t], start, stop, value[:, 0])
            elif tree_output[t] < 0:
                answer_tree(total[k], root, end, right, order[t], start, stop, value[:, k])


@njit(cache=True)
def sums_below(right: NDArray[np.int32], amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up an amount over the subtree of each node."""
    total = amount.copy()
    for h in range(right.size - 1, -1, -1):
        if right[h] >= 0:
            total[h] += total[h + 1] + total[right[h]]
    return total
