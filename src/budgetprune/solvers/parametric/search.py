"""Breadth-first search from the sink: the distance of every block.

Flow can move from a block to another one through a pair that the other one supplies, from a child to its
parent, and back from a parent to a child that sends flow up. Each layer of the search first marks the pairs
that its blocks supply. The next layer is then found in one of two ways: from the members of the marked pairs
if these are few, else from the blocks not reached yet, most of which use a marked pair among their first
arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.network import BLOCK, MEMBER_STOP, START, UNREACHED, Network
from budgetprune.utils.jit import njit, prange

# With fewer arcs to visit, one thread is faster than several.
PARALLEL_ARCS = 30_000
# Visiting the members of a marked pair takes about as long as visiting this many arcs.
COST_OF_PAIR = 8


class ThreadResults(NamedTuple):
    """Blocks and pairs found in a layer: one row per thread."""

    found: NDArray[np.int32]  # blocks
    n_found: NDArray[np.int64]
    marked: NDArray[np.int32]  # pairs
    n_marked: NDArray[np.int64]


@njit(cache=True)
def search(net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32], threads: int) -> int:
    """Set the heights of a slice to exact distances; return how many of its blocks reach the sink.

    Layers are searched by all threads at once. Which thread finds a block first is random, but its
    height is not, and only heights are used afterwards.
    """
    arcs_left = 0
    for k in range(blocks.size):
        net.height[blocks[k]] = UNREACHED
        arcs_left += net.arc_stop[blocks[k]] - net.arc_start[blocks[k]]
    queue, left = net.queue, blocks.copy()
    head, n, n_left = 0, 0, left.size
    found, n_found = np.empty((threads, blocks.size), np.int32), np.zeros(threads, np.int64)
    marked, n_marked = np.empty((threads, pairs.size), np.int32), np.zeros(threads, np.int64)
    results = ThreadResults(found, n_found, marked, n_marked)
    # Layer 0 is the sink itself.
    n_found[0] = find_room(net, blocks, found[0])
    n_marked[0] = mark_spare(net, pairs, marked[0])
    layer = 0
    while True:
        if n_marked.sum() * COST_OF_PAIR < arcs_left:
            if n_marked.sum() * COST_OF_PAIR < PARALLEL_ARCS:
                for thread in range(threads):
                    visit_members(net, layer, results, thread)
            else:
                visit_members_in_parallel(net, layer, results)
        else:
            n_left = drop_reached(net.height, left, n_left)
            if arcs_left < PARALLEL_ARCS or threads == 1:
                visit_blocks(net, left[:n_left], layer, results, 0, 1)
            else:
                visit_blocks_in_parallel(net, left[:n_left], layer, results)
        head, n = n, gather(queue, n, results, net.owner)
        layer += 1
        if head == n or n == blocks.size:
            break
        arcs = 0
        for k in range(head, n):
            arcs += net.arc_stop[queue[k]] - net.arc_start[queue[k]]
        arcs_left -= arcs
        n_marked[:] = 0
        if arcs < PARALLEL_ARCS or threads == 1:
            mark(net, queue[head:n], layer, results, 0, 1)
        else:
            mark_in_parallel(net, queue[head:n], layer, results)
    if n == blocks.size:
        # All blocks have a height, so the search stopped before it marked the pairs of the last layer. The
        # remaining pairs can only be supplied by blocks of this layer.
        for k in range(pairs.size):
            if net.pair_height[pairs[k]] == UNREACHED:
                net.pair_height[pairs[k]] = layer
    return n


@njit(cache=True)
def find_room(net: Network, blocks: NDArray[np.int32], found: NDArray[np.int32]) -> int:
    """Find the blocks that can absorb flow themselves."""
    n = 0
    for k in range(blocks.size):
        if net.room[blocks[k]] > 0:
            net.height[blocks[k]] = 1
            net.owner[blocks[k]] = 0
            found[n] = blocks[k]
            n += 1
    return n


@njit(cache=True)
def mark_spare(net: Network, pairs: NDArray[np.int32], marked: NDArray[np.int32]) -> int:
    """Mark the pairs with spare capacity."""
    n = 0
    for k in range(pairs.size):
        j = pairs[k]
        if net.load[j] < net.capacity[j]:
            net.pair_height[j] = 0
            marked[n] = j
            n += 1
        else:
            net.pair_height[j] = UNREACHED
    return n


@njit(cache=True)
def find(
    height: NDArray[np.int32],
    owner: NDArray[np.uint8],
    found: NDArray[np.int32],
    n: int,
    u: int,
    layer: int,
    thread: int,
) -> int:
    """Add a block to the next layer, unless a layer has it already; return the number found so far."""
    if height[u] != UNREACHED:
        return n
    height[u] = layer + 1
    owner[u] = thread
    found[n] = u
    return n + 1


@njit(cache=True)
def mark(
    net: Network, frontier: NDArray[np.int32], layer: int, results: ThreadResults, thread: int, threads: int
) -> None:
    """Mark the pairs that blocks of a layer supply; find the children and parents of these blocks."""
    height, owner, found = net.height, net.owner, results.found[thread]
    n, m = 0, 0
    for k in range(thread, frontier.size, threads):
        u = frontier[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] > 0:
                j = net.arc_pair[a]
                if net.pair_height[j] == UNREACHED:
                    net.pair_height[j] = layer
                    results.marked[thread, m] = j
                    m += 1
        child = net.first_child[u]
        while child >= 0:
            if net.slice_of[child] == net.slice_of[u]:
                n = find(height, owner, found, n, child, layer, thread)
            child = net.next_sibling[child]
        if net.up[u] > 0:
            n = find(height, owner, found, n, net.parent[u], layer, thread)
    results.n_marked[thread], results.n_found[thread] = m, n


@njit(cache=True)
def visit_members(net: Network, layer: int, results: ThreadResults, thread: int) -> None:
    """Find the members of marked pairs."""
    height, owner, found = net.height, net.owner, results.found[thread]
    n = results.n_found[thread]
    for k in range(results.n_marked[thread]):
        j = results.marked[thread, k]
        for q in range(net.listed[j, START], net.listed[j, MEMBER_STOP]):
            n = find(height, owner, found, n, net.member[q, BLOCK], layer, thread)
    results.n_found[thread] = n


@njit(cache=True)
def visit_blocks(
    net: Network, left: NDArray[np.int32], layer: int, results: ThreadResults, thread: int, threads: int
) -> None:
    """Find the unreached blocks that use a marked pair."""
    height, owner, found = net.height, net.owner, results.found[thread]
    n = results.n_found[thread]
    for k in range(thread, left.size, threads):
        u = left[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.pair_height[net.arc_pair[a]] != UNREACHED:
                n = find(height, owner, found, n, u, layer, thread)
                break
    results.n_found[thread] = n


@njit(cache=True, parallel=True)
def mark_in_parallel(net: Network, frontier: NDArray[np.int32], layer: int, results: ThreadResults) -> None:
    for thread in prange(results.n_found.size):
        mark(net, frontier, layer, results, thread, results.n_found.size)


@njit(cache=True, parallel=True)
def visit_members_in_parallel(net: Network, layer: int, results: ThreadResults) -> None:
    for thread in prange(results.n_found.size):
        visit_members(net, layer, results, thread)


@njit(cache=True, parallel=True)
def visit_blocks_in_parallel(
    net: Network, left: NDArray[np.int32], layer: int, results: ThreadResults
) -> None:
    for thread in prange(results.n_found.size):
        visit_blocks(net, left, layer, results, thread, results.n_found.size)


@njit(cache=True)
def drop_reached(height: NDArray[np.int32], left: NDArray[np.int32], n: int) -> int:
    """Remove reached blocks from the list; return its length."""
    still = 0
    for k in range(n):
        if height[left[k]] == UNREACHED:
            left[still] = left[k]
            still += 1
    return still


@njit(cache=True)
def gather(queue: NDArray[np.int32], n: int, results: ThreadResults, owner: NDArray[np.uint8]) -> int:
    """Append the blocks found by all threads; a block that two of them found counts once, for its owner."""
    for thread in range(results.n_found.size):
        for k in range(results.n_found[thread]):
            u = results.found[thread, k]
            if owner[u] == thread:
                queue[n] = u
                n += 1
        results.n_found[thread] = 0
    return n
