"""Temporary: what kernels of the baselines that are not ported yet need.

Once they are, `__init__.pyi` exports `UsesBySource` of `pair_kernels` and `sort_uses_by_source` of `pairs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem


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


@njit(cache=True)
def partition_node(rows: NDArray[np.int32], is_left: NDArray[np.bool_], went_right: NDArray[np.int32]) -> int:
    """Move the rows that go left to the front, each side in its old order; return their number::

    rows   | rows of h                            |   before
           | rows of left(h)  | rows of right(h)  |   after
    """
    n_left = n_right = 0
    for q in range(rows.size):
        # Each row is written to both sides, but only one counter advances. So there is no branch that the
        # processor could mispredict.
        rows[n_left] = went_right[n_right] = rows[q]
        n_left += is_left[q]
        n_right += not is_left[q]
    rows[n_left:] = went_right[:n_right]
    return n_left
