"""Weights of nodes from rows, for libraries that do not record them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.forest.routing import CHUNK, find_leaves
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


def weigh(forest: Forest, X: Any) -> Forest:
    """Count the rows at each node, and give inner nodes the mean of the leaves below; see `Forest`."""
    rows = forest.prepare_rows(X)
    count = np.zeros(forest.n_nodes, dtype=np.int64)
    for first in range(0, len(rows), CHUNK):
        leaves = find_leaves(rows[first : first + CHUNK], forest._packed)
        count += np.bincount(leaves.ravel(), minlength=forest.n_nodes)
    weight = sum_of_leaves(forest.right, count[:, np.newaxis].astype(np.float64))[:, 0]
    return replace(
        forest,
        weight=weight,
        value=mean_of_leaves(forest.right, forest.value, weight),
        class_weight=None,
        variance=None,
        split_gain=None,
    )
