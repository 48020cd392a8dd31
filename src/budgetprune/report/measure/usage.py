"""Counts of how often rows test features, as in Table 1 of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.report.measure.kernels import count_pairs
from budgetprune.utils.threads import in_threads

# Rows per thread and kernel call, which takes milliseconds.
BLOCK = 4096


def usage_shares(forest: Forest, rows: NDArray[Any], is_counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the shares of (row, counted feature) pairs with 0, 1 to 7, and more uses."""
    leaf = forest.apply(rows)
    pairs = np.empty((len(leaf), 3), dtype=np.int64)

    def count(first: int) -> None:
        block = slice(first, first + BLOCK)
        pairs[block] = count_pairs(leaf[block], forest.parent, forest.feature, is_counted)

    in_threads(count, range(0, len(leaf), BLOCK))
    shares: NDArray[np.float64] = pairs.sum(axis=0) / max(pairs.sum(), 1)
    return shares
