"""Cut a slice of the network in two, and find the blocks of a slice that are strictly worth keeping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.network import (
    ARC,
    BLOCK,
    MEMBER_STOP,
    START,
    SUPPLIER_STOP,
    UNREACHED,
    Network,
)
from budgetprune.utils.jit import njit


@njit(cache=True)
def split(net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32], name: int) -> tuple[int, int]:
    """Separate blocks and pairs that cannot reach the sink (worth keeping at this level) from the others.

    They come first in `blocks` and `pairs`, both in their old order, and the blocks get the slice number
    `name`. Arcs between the two parts carry no flow, since no flow crosses a minimum cut backwards. They are
    removed: the pairs are paid for, so the blocks of the other part use them for free.

    Returns
    -------
    n_blocks, n_pairs : int
        Size of the first part.
    """
    n_blocks = stable_partition(blocks, net.height)
    n_pairs = stable_partition(pairs, net.pair_height)
    for k in range(n_blocks):
        net.slice_of[blocks[k]] = name
    for k in range(n_pairs):
        j = pairs[k]
        stop = net.listed[j, START]
        for q in range(net.listed[j, START], net.listed[j, MEMBER_STOP]):
            if net.slice_of[net.member[q, BLOCK]] == name:
                net.member[stop, BLOCK], net.member[stop, ARC] = net.member[q, BLOCK], net.member[q, ARC]
                stop += 1
        net.listed[j, MEMBER_STOP] = stop
    rebuild_members(net, blocks[n_blocks:], pairs[n_pairs:])
    return n_blocks, n_pairs


@njit(cache=True)
def stable_partition(items: NDArray[np.int32], height: NDArray[np.int32]) -> int:
    """Move the items that are unreached to the front."""
    kept = np.empty(items.size, np.int32)
    front = rest = 0
    for k in range(items.size):
        if height[items[k]] == UNREACHED:
            items[front] = items[k]
            front += 1
        else:
            kept[rest] = items[k]
            rest += 1
    items[front:] = kept[:rest]
    return front


@njit(cache=True)
def rebuild_members(net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32]) -> None:
    """Remove the arcs of blocks to unreached pairs, and list the members of the other pairs again."""
    for k in range(pairs.size):
        net.listed[pairs[k], SUPPLIER_STOP] = net.listed[pairs[k], START]
    for k in range(blocks.size):
        u = blocks[k]
        stop = net.arc_start[u]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            j = net.arc_pair[a]
            if net.pair_height[j] < UNREACHED:
                net.arc_pair[stop], net.flow[stop] = j, net.flow[a]
                if net.flow[stop] > 0:
                    q = net.listed[j, SUPPLIER_STOP]
                    net.member[q, BLOCK], net.member[q, ARC] = u, stop
                    net.listed[j, SUPPLIER_STOP] = q + 1
                stop += 1
        net.arc_stop[u] = stop
    for k in range(pairs.size):
        net.listed[pairs[k], MEMBER_STOP] = net.listed[pairs[k], SUPPLIER_STOP]
    for k in range(blocks.size):
        u = blocks[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] == 0:
                j = net.arc_pair[a]
                q = net.listed[j, MEMBER_STOP]
                net.member[q, BLOCK], net.member[q, ARC] = u, a
                net.listed[j, MEMBER_STOP] = q + 1


@njit(cache=True)
def mark_worthwhile(
    net: Network,
    blocks: NDArray[np.int32],
    pairs: NDArray[np.int32],
    level: float,
    worthwhile: NDArray[np.bool_],
) -> None:
    """Mark the blocks of a slice that every optimal set at `level` has: they are the smallest optimal set.

    These are the blocks that can be reached from a surplus: excess that is not absorbed, or flow to a pair
    beyond its capacity. The other blocks of the slice gain as much as they cost.
    """
    stack, n = net.queue, 0
    for k in range(blocks.size):
        u = blocks[k]
        worthwhile[u] = net.excess[u] > 0
        if worthwhile[u]:
            stack[n] = u
            n += 1
    for k in range(pairs.size):
        j = pairs[k]
        net.pair_height[j] = 0  # not visited yet
        if net.load[j] > np.ceil(level * net.price[j]):
            n = reach_suppliers(net, j, worthwhile, stack, n)
    while n > 0:
        n -= 1
        u = stack[n]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.pair_height[net.arc_pair[a]] == 0:
                n = reach_suppliers(net, net.arc_pair[a], worthwhile, stack, n)
        p = net.parent[u]
        if p >= 0 and net.slice_of[p] == net.slice_of[u] and not worthwhile[p]:
            worthwhile[p] = True
            stack[n] = p
            n += 1
        child = net.first_child[u]
        while child >= 0:
            if net.up[child] > 0 and net.slice_of[child] == net.slice_of[u] and not worthwhile[child]:
                worthwhile[child] = True
                stack[n] = child
                n += 1
            child = net.next_sibling[child]


@njit(cache=True)
def reach_suppliers(
    net: Network, j: int, worthwhile: NDArray[np.bool_], stack: NDArray[np.int32], n: int
) -> int:
    """Mark the suppliers of a pair, and put them on the stack."""
    net.pair_height[j] = UNREACHED
    for q in range(net.listed[j, START], net.listed[j, SUPPLIER_STOP]):
        v = net.member[q, BLOCK]
        if not worthwhile[v]:
            worthwhile[v] = True
            stack[n] = v
            n += 1
    return n
