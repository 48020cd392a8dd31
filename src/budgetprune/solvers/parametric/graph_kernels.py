"""Kernels that convert a pruning problem to a closure problem, and its solution back."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import (
        Flags,
        Ints,
        Ints2,
        Longs,
        OutDoubles,
        OutInts,
        OutInts2,
        OutLongs,
        Size,
        int32_t,
    )

    NEVER, ALWAYS = -1, -2


# --- Blocks -------------------------------------------------------------------------------------------------


def contract(
    parent: Ints, left: Ints, right: Ints, is_paid: Flags, gain: Longs
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Group the splits into blocks that are kept or pruned together.

    A split whose subtree has no gain even if free is always pruned. A free split that is reached for free is
    always kept if its free subtree has a gain. Of the others, a split that needs nothing new and has no
    negative gain is kept whenever its parent is.

    Returns
    -------
    block_of : int32 array of shape (n_nodes,)
        Block of each node, or NEVER, or ALWAYS.
    top : int32 array of shape (n_blocks,)
        Node of each block that is nearest to the root.
    parent : int32 array of shape (n_blocks,)
    gain : int64 array of shape (n_blocks,)
    """
    n: Size = parent.shape[0]
    block_of_node, top_of_block, parent_of_block = np.empty((3, n), np.int32)
    gain_of_block = np.empty(n, np.int64)
    block_of: OutInts = block_of_node
    top: OutInts = top_of_block
    block_parent: OutInts = parent_of_block
    block_gain: OutLongs = gain_of_block
    # Values of subtrees: if all splits are free, and of the free splits only.
    best: OutLongs = np.zeros(n, np.int64)
    free: OutLongs = np.zeros(n, np.int64)
    h: Size
    for h in range(n - 1, -1, -1):
        if left[h] >= 0:
            best[h] = max(0, gain[h] + best[left[h]] + best[right[h]])
            if not is_paid[h]:
                free[h] = max(0, gain[h] + free[left[h]] + free[right[h]])
    n_blocks: Size = 0
    for h in range(n):
        above: int32_t = ALWAYS
        if parent[h] >= 0:
            above = block_of[parent[h]]
        if best[h] == 0 or above == NEVER:
            block_of[h] = NEVER
        elif above == ALWAYS and free[h] > 0:
            block_of[h] = ALWAYS
        elif above >= 0 and not is_paid[h] and gain[h] >= 0:
            block_of[h] = above
            block_gain[above] += gain[h]
        else:
            block_of[h] = cython.cast(int32_t, n_blocks)
            top[n_blocks] = cython.cast(int32_t, h)
            block_gain[n_blocks] = gain[h]
            block_parent[n_blocks] = max(above, -1)
            n_blocks += 1
    return (
        block_of_node,
        top_of_block[:n_blocks].copy(),
        parent_of_block[:n_blocks].copy(),
        gain_of_block[:n_blocks].copy(),
    )


# --- Arcs ---------------------------------------------------------------------------------------------------


class BlockUses:
    """First uses of sources by blocks.

    Parameters
    ----------
    start, stop : block ``b`` has the uses ``start[b]:stop[b]``
    source : of each use
    tree : of each block
    row_start, row_stop : block ``b`` has the rows ``row_start[b]:row_stop[b]`` in the order of its tree
    order : rows in the order of each tree
    """

    def __init__(
        self,
        start: Longs,
        stop: Longs,
        source: Ints,
        tree: Ints,
        row_start: Ints,
        row_stop: Ints,
        order: Ints2,
    ) -> None:
        self.start = start
        self.stop = stop
        self.source = source
        self.tree = tree
        self.row_start = row_start
        self.row_stop = row_stop
        self.order = order


def mark_pairs(uses: BlockUses, number: OutInts2) -> None:
    """Set the number of every pair that a block uses to 0."""
    b: Size
    k: Size
    q: Size
    with cython.nogil:
        for b in range(uses.tree.shape[0]):
            for k in range(uses.start[b], uses.stop[b]):
                for q in range(uses.row_start[b], uses.row_stop[b]):
                    number[uses.source[k], uses.order[uses.tree[b], q]] = 0


def fill_arcs(
    uses: BlockUses, first: Size, last: Size, number: Ints2, own: Ints, arc_start: Longs, arc_pair: OutInts
) -> None:
    """List the pairs of some blocks, ordered by use and row; the block's own pair is last."""
    b: Size
    k: Size
    q: Size
    with cython.nogil:
        for b in range(first, last):
            a: Size = arc_start[b]
            for k in range(uses.start[b], uses.stop[b]):
                for q in range(uses.row_start[b], uses.row_stop[b]):
                    arc_pair[a] = number[uses.source[k], uses.order[uses.tree[b], q]]
                    a += 1
            if own[b] >= 0:
                arc_pair[a] = own[b]


# --- The solution -------------------------------------------------------------------------------------------


def resolve_neutral(left: Ints, right: Ints, neutral: Flags, critical: OutDoubles) -> None:
    """Keep a split without cost and gain only as long as a split below it is kept."""
    h: Size
    for h in range(left.shape[0] - 1, -1, -1):
        if neutral[h]:
            critical[h] = max(critical[left[h]], critical[right[h]])


def scatter_flow(
    uses: BlockUses,
    use_start: Longs,
    number: Ints2,
    arc_start: Longs,
    arc_stop: Longs,
    arc_pair: Ints,
    flow: Longs,
    to_pair: OutLongs,
    beta: OutDoubles,
) -> None:
    """Look up the flow of every incidence; removed arcs carry none. `to_pair` is all zeros."""
    b: Size
    k: Size
    a: Size
    q: Size
    with cython.nogil:
        for b in range(uses.tree.shape[0]):
            for a in range(arc_start[b], arc_stop[b]):
                to_pair[arc_pair[a]] = flow[a]
            for k in range(uses.start[b], uses.stop[b]):
                for q in range(uses.row_start[b], uses.row_stop[b]):
                    row: Size = uses.order[uses.tree[b], q]
                    beta[use_start[k] + q - uses.row_start[b]] = to_pair[number[uses.source[k], row]]
            for a in range(arc_start[b], arc_stop[b]):
                to_pair[arc_pair[a]] = 0
