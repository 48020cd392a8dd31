"""First uses of sources on paths (u_tki of the paper), and the rows that acquire them there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.problem import kernels
from budgetprune.problem.rows import RoutedRows
from budgetprune.utils.arrays import frozen
from budgetprune.utils.parts import in_ranges


@dataclass(frozen=True, eq=False)
class FirstUses:
    """Splits at which a row must pay for a source, because nothing above them has needed it.

    Attributes
    ----------
    node, source : int32 arrays of shape (n_uses,)
        Sorted by node, then by source. Only sources with a price; whether rows reach the node or not.
    start : int64 array of shape (n_uses + 1,)
        Numbers the incidences: ``start[k] + q`` is use `k` by the `q`-th row that reaches its node.
    tree_start : int64 array of shape (n_trees + 1,)
        Offsets of each tree's uses.
    """

    node: NDArray[np.int32]
    source: NDArray[np.int32]
    start: NDArray[np.int64]
    tree_start: NDArray[np.int64]


def first_uses(forest: Forest, costs: CostTable, rows: RoutedRows) -> FirstUses:
    """Find the first uses of all sources on all paths, and number their incidences."""
    node, source = first_use_splits(forest, costs)
    n_rows = (rows.stop - rows.start)[node]
    return FirstUses(
        node=node,
        source=source,
        start=frozen(np.concatenate([[0], np.cumsum(n_rows, dtype=np.int64)])),
        tree_start=frozen(np.searchsorted(node, forest.tree_start).astype(np.int64)),
    )


def first_use_splits(forest: Forest, costs: CostTable) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Find the splits that are the first on a path to need a source: nodes and sources."""
    # Candidates: each split with each source that its feature needs, in the order the uses are to have.
    split = np.flatnonzero(forest.is_split)
    needs_start, n_needs = costs.needs_start[forest.feature[split]], np.diff(costs.needs_start)
    n_needs = n_needs[forest.feature[split]]
    candidate_start = np.zeros(forest.n_nodes + 1, dtype=np.int64)
    candidate_start[split + 1] = n_needs
    np.cumsum(candidate_start, out=candidate_start)
    node = np.repeat(split.astype(np.int32), n_needs)
    within = np.arange(node.size) - candidate_start[node]
    source = costs.needs[np.repeat(needs_start, n_needs) + within]

    is_first = mark_first(forest.tree_start, forest.right, candidate_start, source, costs.price)
    return frozen(node[is_first]), frozen(source[is_first])


def mark_first(
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    candidate_start: NDArray[np.int64],
    source: NDArray[np.int32],
    price: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Mark the candidates whose source no split above needs, in every tree."""
    is_first = np.empty(source.size, dtype=np.bool_)
    in_ranges(
        lambda first, last: kernels.mark_first(
            first, last, tree_start, right, candidate_start, source, price, is_first
        ),
        tree_start.size - 1,
        n_steps=right.size + source.size,
    )
    return is_first


def acquire(
    keep: NDArray[np.bool_],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    node: NDArray[np.int32],
    source: NDArray[np.int32],
    tree_start: NDArray[np.int64],
    n_sources: int,
) -> NDArray[np.bool_]:
    """Mark what each row acquires (w_ki of the paper), of shape (n_rows, n_sources)."""
    acquired = np.zeros((order.shape[1], n_sources), dtype=np.bool_)
    # Threads may mark the same entry, but only ever with the same value.
    in_ranges(
        lambda first, last: kernels.acquire(
            first, last, keep, order, start, stop, node, source, tree_start, acquired
        ),
        len(order),
        n_steps=order.size,
    )
    return acquired
