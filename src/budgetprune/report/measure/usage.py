"""Counts of how often rows test features, as in Table 1 of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.utils.jit import njit, prange

# The paper's limit between few and many uses.
MOST_FEW = 7


def usage_shares(forest: Forest, rows: NDArray[Any], is_counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the shares of (row, counted feature) pairs with 0, 1 to 7, and more uses."""
    leaf = forest.apply(rows)
    pairs = count_pairs(leaf, forest.parent, forest.feature, is_counted).sum(axis=0)
    shares: NDArray[np.float64] = pairs / max(pairs.sum(), 1)
    return shares


@njit(cache=True)
def count_uses(
    uses: NDArray[np.int32], leaf: NDArray[np.int32], parent: NDArray[np.int32], feature: NDArray[np.int32]
) -> None:
    """Count the splits on each feature along one row's paths, from its leaves up."""
    for h in leaf:
        p = parent[h]
        while p >= 0:
            uses[feature[p]] += 1
            p = parent[p]


@njit(cache=True, parallel=True)
def count_pairs(
    leaf: NDArray[np.int32],
    parent: NDArray[np.int32],
    feature: NDArray[np.int32],
    is_counted: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Count features by number of uses in each row; shape (n_rows, 3)."""
    pairs = np.zeros((leaf.shape[0], 3), dtype=np.int64)
    for i in prange(leaf.shape[0]):
        uses = np.zeros(is_counted.size, dtype=np.int32)
        count_uses(uses, leaf[i], parent, feature)
        for k in range(is_counted.size):
            if is_counted[k]:
                pairs[i, 0 if uses[k] == 0 else 1 if uses[k] <= MOST_FEW else 2] += 1
    return pairs
