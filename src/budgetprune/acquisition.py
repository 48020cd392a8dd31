"""What rows acquire on their ways through a forest, and what that costs them: full cost, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.problem._rows import route
from budgetprune.problem._uses import acquire, first_uses

# Rows that are routed at once: enough for both cores, and little memory.
CHUNK = 2**16


def sources_used(forest: Forest, costs: CostTable, X: Any) -> NDArray[np.bool_]:
    """Find which sources each row acquires (w_ki of the paper), of shape (n_rows, n_sources).

    Every source on its paths through all trees, except those without a price.
    """
    rows = forest.prepare_rows(X)
    chunks = [_sources_used(forest, costs, rows[i : i + CHUNK]) for i in range(0, len(rows), CHUNK)]
    return np.concatenate(chunks)


def _sources_used(forest: Forest, costs: CostTable, rows: NDArray[Any]) -> NDArray[np.bool_]:
    routed = route(forest, rows)
    uses = first_uses(forest, costs, routed)
    used: NDArray[np.bool_] = acquire(
        forest.is_split,
        routed.order,
        routed.start,
        routed.stop,
        uses.node,
        uses.source,
        uses.tree_start,
        costs.n_sources,
    )
    return used
