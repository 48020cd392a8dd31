"""Iteration over (source, row) pairs by source, so that threads never share an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem

# Work is shared out in this many parts, however many threads there are: sums must not depend on the machine.
N_PARTS = 16


class UsesBySource(NamedTuple):
    """First uses, sorted by source, and the arrays that give their rows."""

    by_source: NDArray[np.int64]  # uses, sorted by source
    source_start: NDArray[np.int64]
    order: NDArray[np.int32]
    row_start: NDArray[np.int32]
    tree_of_node: NDArray[np.int32]
    use_node: NDArray[np.int32]
    use_start: NDArray[np.int64]


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


@njit(cache=True)
def uses_of_source(uses: UsesBySource, s: int) -> NDArray[np.int64]:
    """First uses of a source."""
    return uses.by_source[uses.source_start[s] : uses.source_start[s + 1]]


@njit(cache=True)
def rows_of_use(uses: UsesBySource, k: int) -> NDArray[np.int32]:
    """Rows of first use `k`, in the order of its incidences."""
    h = uses.use_node[k]
    start = uses.row_start[h]
    return uses.order[uses.tree_of_node[h], start : start + uses.use_start[k + 1] - uses.use_start[k]]


def suffix_sums(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the bins above each point; bin `b` has amounts that count for the first `b` points."""
    return np.cumsum(bins[:0:-1])[::-1]
