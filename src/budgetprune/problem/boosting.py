"""Gains of splits and values of inner nodes that boosted models do not record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, mean_of_leaves
from budgetprune.problem.boosted import check_known_loss, measure
from budgetprune.problem.errors import check_finite
from budgetprune.problem.gains import split_gains
from budgetprune.problem.rows import route
from budgetprune.problem.targets import Labels


def recompute(
    forest: Forest, X_train: Any, y_train: Any, sample_weight: Any = None, *, inner_values: bool = True
) -> Forest:
    """Recompute gains and inner values of a boosted ensemble from its training rows.

    Some libraries record no gains, or gains minus penalties; some store no value at inner nodes, or one that
    is not a boosting step. Pruning depends on both.

    Parameters
    ----------
    forest : Forest
        Boosted, with a supported loss.
    X_train, y_train : array-like
        The rows that the model was trained on.
    sample_weight : array-like of shape (n_rows,), optional
        Their weights, as in training. Class weights of the model (`class_weight`) are multiplied in.
    inner_values : bool
        Whether inner nodes get a new value too: the mean of the leaves below, weighted by the curvature of
        the loss on their rows. If leaves are shrunken Newton steps, this is the Newton step of the node's own
        rows with the same shrinkage, which need not be known. Nodes that no row reaches keep their value.

    Returns
    -------
    forest : Forest
        With `split_gain` as measured on these rows, and with the new values; otherwise the same.
    """
    if not forest.is_boosted:
        raise InvalidInputError("recompute is for boosted ensembles; the trees of this forest are averaged.")
    check_known_loss(forest)
    rows = route(forest, forest.prepare_rows(X_train, "X_train"))
    sums, weight = measure(forest, rows, Labels(y_train, sample_weight, "y_train", "sample_weight"))
    if inner_values:
        forest = replace(forest, value=_newton_values(forest, sums.curvature))
    gain = split_gains(forest, sums) / weight
    check_finite(gain)
    return replace(forest, split_gain=gain)


def _newton_values(forest: Forest, curvature: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of the leaves below each node, weighted by the curvature there, output by output."""
    columns = zip(forest.value.T, curvature.T, strict=True)
    means = [mean_of_leaves(forest.right, value[:, np.newaxis], weight)[:, 0] for value, weight in columns]
    return np.where(curvature > 0, np.column_stack(means), forest.value)
