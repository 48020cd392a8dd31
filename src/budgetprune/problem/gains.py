"""Second-order gains of the splits of a boosted ensemble on any rows, by round."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.losses import find_loss
from budgetprune.problem.kernels import TreeRows, add_scores, sum_derivatives
from budgetprune.problem.rows import RoutedRows, tree_rows
from budgetprune.utils.parts import in_parts, in_ranges


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
    node_rows = tree_rows(forest, rows)
    borders = [0, *(np.flatnonzero(np.diff(forest.tree_round)) + 1), forest.n_trees]
    for first, last in pairwise(borders):
        by_row = loss.derivatives(total.T / forest.divisor, target)
        gradient, curvature = (np.ascontiguousarray(part.T) * weight for part in by_row)
        _add_round(forest, range(first, last), node_rows, gradient, curvature, sums, total)
    return sums


def _add_round(
    forest: Forest,
    trees: range,
    rows: TreeRows,
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
    sums: NewtonSums,
    total: NDArray[np.float64],
) -> None:
    """Add the derivatives at the nodes of one round's trees, and then the trees' outputs to the scores."""
    n_steps = len(trees) * total.size
    in_ranges(
        lambda first, last: sum_derivatives(
            trees.start + first, trees.start + last, rows, forest.tree_output, gradient, curvature, *sums
        ),
        len(trees),
        n_steps,
    )
    # By output, not by tree: several trees may feed the same one.
    in_parts(
        lambda k: add_scores(k, trees.start, trees.stop, rows, forest.tree_output, forest.value, total),
        range(len(total)),
        n_steps,
    )


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
