"""Walks over the pairs (source, row): source by source, so that threads never meet at a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

if TYPE_CHECKING:
    from budgetprune.problem._problem import PruningProblem

# Work is shared out in this many parts, however many threads there are: sums must not depend on the machine.
N_PARTS = 16


def walk_by_source(problem: PruningProblem) -> tuple[NDArray[Any], ...]:
    """Return the arrays that every walk takes, in the order in which it takes them.

    Source `s` is first used at ``by_source[source_start[s]:source_start[s + 1]]``, by the rows that
    `rows_of_use` finds in the other arrays.
    """
    by_source = np.argsort(problem.use_source, kind="stable")
    return (
        by_source,
        np.searchsorted(problem.use_source[by_source], np.arange(problem.n_sources + 1)),
        problem.order,
        problem.row_start,
        problem.forest.tree_of_node,
        problem.use_node,
        problem.use_start,
    )


@njit(cache=True)
def rows_of_use(
    k: int,
    order: NDArray[np.int32],
    row_start: NDArray[np.int32],
    tree_of_node: NDArray[np.int32],
    use_node: NDArray[np.int32],
    use_start: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Rows of first use `k`, in the order of its incidences."""
    h = use_node[k]
    return order[tree_of_node[h], row_start[h] : row_start[h] + use_start[k + 1] - use_start[k]]


def suffix_sums(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """At point `p`, add up the bins above `p`: what lasts for the first `b` points is in bin `b`."""
    return np.cumsum(bins[:0:-1])[::-1]
