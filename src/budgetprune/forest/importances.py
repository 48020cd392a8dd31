"""Importance of features: the variance of scores that the splits on each of them explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


def explained_variances(forest: Forest) -> NDArray[np.float64]:
    """Return the variance of the trees' outputs that the splits on each feature explain.

    A split explains the weighted variance of the means of its two sides around the mean of both, summed over
    the outputs. For averaged trees, this is the decrease of the Gini impurity, or of the squared error, from
    which scikit-learn computes importances. Only leaf values and training weights are used, so refitted
    leaves count as they are.

    Returns
    -------
    variances : float64 array of shape (n_features,)
        Sums over all trees, per training row.
    """
    if not forest.is_split.any():
        return np.zeros(forest.n_features)
    at_leaves = np.where(forest.is_split, 0.0, forest.weight)
    if not at_leaves.any():
        raise InvalidInputError(
            "the forest records no training weights, which importances need; take them from rows: "
            "forest.with_weights_of(X)."
        )
    weight = sum_of_leaves(forest.right, at_leaves[:, np.newaxis])[:, 0]
    # Trees that feed one output use the first column only.
    is_used = (forest.tree_output[forest.tree_of_node] < 0)[:, np.newaxis] | (
        np.arange(forest.value.shape[1]) == 0
    )
    mean = mean_of_leaves(forest.right, np.where(is_used, forest.value, 0.0), at_leaves)
    split = np.flatnonzero(forest.is_split)
    explained = np.zeros(split.size)
    for side in (split + 1, forest.right[split]):
        explained += weight[side] * np.square(mean[side] - mean[split]).sum(axis=1)
    roots = forest.tree_start[:-1]
    per_row = explained / np.maximum(weight[roots], np.finfo(float).tiny)[forest.tree_of_node[split]]
    sums = np.bincount(forest.feature[split], weights=per_row, minlength=forest.n_features)
    return sums / forest.divisor**2


def as_shares(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide by the sum; all zeros stay zeros."""
    total = variances.sum()
    return variances / total if total > 0 else variances
