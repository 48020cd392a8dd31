"""Iteration over (source, row) pairs by source, so that threads never share an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem.pair_kernels import UsesBySource

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem

# Work is shared out in this many parts, however many threads there are: sums must not depend on the machine.
N_PARTS = 16


def sort_uses_by_source(problem: PruningProblem) -> UsesBySource:
    """Sort the first uses by source."""
    by_source = np.argsort(problem.use_source, kind="stable")
    return UsesBySource(
        by_source=by_source,
        source_start=np.searchsorted(problem.use_source[by_source], np.arange(problem.n_sources + 1)),
        order=problem.order,
        row_start=problem.row_start,
        tree_of_node=problem.forest.tree_of_node,
        use_node=problem.use_node,
        use_start=problem.use_start,
    )


def suffix_sums(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the bins above each point; bin `b` has amounts that count for the first `b` points."""
    return np.cumsum(bins[:0:-1])[::-1]
