"""First uses of sources on paths (u_tki of the paper), and the rows that acquire them there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.problem.rows import RoutedRows
from budgetprune.utils.arrays import frozen
from budgetprune.utils.jit import njit, prange


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
    node, source = node[is_first], source[is_first]
    n_rows = (rows.stop - rows.start)[node]
    return FirstUses(
        node=frozen(node),
        source=frozen(source),
        start=frozen(np.concatenate([[0], np.cumsum(n_rows, dtype=np.int64)])),
        tree_start=frozen(np.searchsorted(node, forest.tree_start).astype(np.int64)),
    )


@njit(cache=True)
def mark_first_in_tree(
    is_first: NDArray[np.bool_],
    root: int,
    end: int,
    right: NDArray[np.int32],
    candidate_start: NDArray[np.int64],
    source: NDArray[np.int32],
    price: NDArray[np.float64],
) -> None:
    """Mark the candidates of one tree whose source no split above needs.

    In pre-order a subtree is a range, so one number per source says where it is paid for already: up to the
    end of the subtree of the split that needed it last.
    """
    subtree_end = np.empty(end - root, dtype=np.int64)
    subtree_end[0] = end
    paid_until = np.zeros(price.size, dtype=np.int64)
    for h in range(root, end):
        if right[h] < 0:
            continue
        subtree_end[h + 1 - root] = right[h]
        subtree_end[right[h] - root] = subtree_end[h - root]
        for c in range(candidate_start[h], candidate_start[h + 1]):
            s = source[c]
            is_first[c] = price[s] > 0 and paid_until[s] <= h
            if is_first[c]:
                paid_until[s] = subtree_end[h - root]


@njit(cache=True, parallel=True)
def mark_first(
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    candidate_start: NDArray[np.int64],
    source: NDArray[np.int32],
    price: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Mark the candidates whose source no split above needs, in every tree."""
    is_first = np.empty(source.size, dtype=np.bool_)
    for t in prange(tree_start.size - 1):
        mark_first_in_tree(is_first, tree_start[t], tree_start[t + 1], right, candidate_start, source, price)
    return is_first


@njit(cache=True)
def acquire_in_tree(
    acquired: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    node: NDArray[np.int32],
    source: NDArray[np.int32],
) -> None:
    """Mark what the rows acquire for the kept splits of one tree."""
    for k in range(node.size):
        h = node[k]
        if keep[h]:
            for q in range(start[h], stop[h]):
                acquired[order[q], source[k]] = True


@njit(cache=True, parallel=True)
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
    n_trees, n_rows = order.shape
    acquired = np.zeros((n_rows, n_sources), dtype=np.bool_)
    # Threads may mark the same entry, but only ever with the same value.
    for t in prange(n_trees):
        uses = slice(tree_start[t], tree_start[t + 1])
        acquire_in_tree(acquired, keep, order[t], start, stop, node[uses], source[uses])
    return acquired
