"""Counts of how often rows test each feature on their paths through a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest


def count_uses(forest: Forest, X: Any) -> NDArray[np.int32]:
    """Count the splits on each feature that each row passes, in all trees: shape (n_rows, n_features)."""
    above = uses_above(forest)
    leaf = forest.apply(X)
    total = np.zeros((len(leaf), forest.n_features), dtype=np.int32)
    for of_tree in leaf.T:
        total += above[of_tree]
    return total


def uses_above(forest: Forest) -> NDArray[np.int32]:
    """Count the splits on each feature on the way from the root to each node: (n_nodes, n_features)."""
    above = np.zeros((forest.n_nodes, forest.n_features), dtype=np.int32)
    order = np.argsort(forest.depth, kind="stable")
    levels = np.split(order, np.cumsum(np.bincount(forest.depth))[:-1])
    for level in levels[1:]:
        parent = forest.parent[level]
        above[level] = above[parent]
        above[level, forest.feature[parent]] += 1
    return above
