"""Sources that rows acquire on their paths through a forest, and the full cost of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.problem.rows import route
from budgetprune.problem.uses import acquire, first_uses

# Rows that are routed at once: enough for both cores, and little memory.
CHUNK = 2**16

# Function that returns the sources that rows acquire if only the given splits of the forest are kept.
Acquire = Callable[[NDArray[np.bool_]], NDArray[np.bool_]]


def sources_used(forest: Forest, costs: CostTable, X: Any) -> NDArray[np.bool_]:
    """Find which sources each row acquires (w_ki of the paper), of shape (n_rows, n_sources).

    Every source on its paths through all trees, except those without a price.
    """
    rows = forest.prepare_rows(X)
    starts = range(0, len(rows), CHUNK)
    chunks = [acquire_along(forest, costs, rows[i : i + CHUNK])(forest.is_split) for i in starts]
    return np.concatenate(chunks)


def acquire_along(forest: Forest, costs: CostTable, rows: NDArray[Any]) -> Acquire:
    """Route rows once, for all prunings of a forest."""
    routed = route(forest, rows)
    uses = first_uses(forest, costs, routed)

    def acquired(keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        # A first use stays one if the splits below it go.
        mask: NDArray[np.bool_] = acquire(
            keep,
            routed.order,
            routed.start,
            routed.stop,
            uses.node,
            uses.source,
            uses.tree_start,
            costs.n_sources,
        )
        return mask

    return acquired
