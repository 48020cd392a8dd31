"""Breadth-first search from the sink: the distance of every block.

Each layer of the search first marks the pairs that its blocks supply. The next layer is then found in one of
two ways: from the members of the marked pairs if these are few, else from the blocks not reached yet, most of
which use a marked pair among their first arcs.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.solvers.parametric.kernels import UNREACHED, Network, discharge
    from budgetprune.utils.kernel_types import Ints, Size, int32_t

# Visiting the members of a marked pair takes about as long as visiting this many arcs.
COST_OF_PAIR = cython.declare(Size, 8)


def push_rounds(net: Network, blocks: Ints, pairs: Ints, rounds: Size) -> bool:
    """Alternate search and push; return whether no excess is left that can move."""
    is_done: cython.bint = False
    n_arcs: Size = 0
    k: Size
    with cython.nogil:
        for k in range(blocks.shape[0]):
            n_arcs += net.arc_stop[blocks[k]] - net.arc_start[blocks[k]]
        while rounds > 0 and not is_done:
            search(net, blocks, pairs)
            # Heights become inexact as the flow changes, so they are computed again after half a pass over
            # the arcs.
            is_done = not discharge(net, blocks, (n_arcs >> 1) + 2 * blocks.shape[0] + 1000)
            rounds -= 1
    return bool(is_done)


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def search(net: Network, blocks: Ints, pairs: Ints) -> Size:
    """Set the heights of a slice to exact distances; return how many of its blocks reach the sink."""
    size: Size = blocks.shape[0]
    arcs_left: Size = 0
    k: Size
    for k in range(size):
        net.height[blocks[k]] = UNREACHED
        net.left[k] = blocks[k]
        arcs_left += net.arc_stop[blocks[k]] - net.arc_start[blocks[k]]
    n_left: Size = size
    # Layer 0 is the sink itself.
    layer: Size = 0
    head: Size = 0
    n: Size = find_room(net, blocks)
    n_marked: Size = mark_spare(net, pairs)
    while True:
        if n_marked * COST_OF_PAIR < arcs_left:
            n = visit_members(net, layer, n_marked, n)
        else:
            n_left = drop_reached(net, n_left)
            n = visit_blocks(net, layer, n_left, n)
        layer += 1
        if head == n or n == size:
            break
        for k in range(head, n):
            arcs_left -= net.arc_stop[net.queue[k]] - net.arc_start[net.queue[k]]
        n_marked = mark(net, layer, head, n)
        head, n = n, find_relatives(net, layer, head, n)
    if n == size:
        # All blocks have a height, so the search stopped before it marked the pairs of the last layer. The
        # remaining pairs can only be supplied by blocks of this layer.
        for k in range(pairs.shape[0]):
            if net.pair_height[pairs[k]] == UNREACHED:
                net.pair_height[pairs[k]] = cython.cast(int32_t, layer)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_room(net: Network, blocks: Ints) -> Size:
    """Find the blocks that can absorb flow themselves; return their number."""
    n: Size = 0
    k: Size
    for k in range(blocks.shape[0]):
        if net.room[blocks[k]] > 0:
            n = find(net, blocks[k], 0, n)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark_spare(net: Network, pairs: Ints) -> Size:
    """Mark the pairs with spare capacity; return their number."""
    n_marked: Size = 0
    k: Size
    for k in range(pairs.shape[0]):
        j: Size = pairs[k]
        if net.load[j] < net.capacity[j]:
            net.pair_height[j] = 0
            net.marked[n_marked] = cython.cast(int32_t, j)
            n_marked += 1
        else:
            net.pair_height[j] = UNREACHED
    return n_marked


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def find(net: Network, u: Size, layer: Size, n: Size) -> Size:
    """Add a block to the next layer, unless a layer has it already; return the number found so far."""
    if net.height[u] != UNREACHED:
        return n
    net.height[u] = cython.cast(int32_t, layer + 1)
    net.queue[n] = cython.cast(int32_t, u)
    return n + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark(net: Network, layer: Size, first: Size, last: Size) -> Size:
    """Mark the pairs that blocks of a layer, a part of the queue, supply; return their number."""
    n_marked: Size = 0
    k: Size
    a: Size
    for k in range(first, last):
        u: Size = net.queue[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] > 0:
                j: Size = net.arc_pair[a]
                if net.pair_height[j] == UNREACHED:
                    net.pair_height[j] = cython.cast(int32_t, layer)
                    net.marked[n_marked] = cython.cast(int32_t, j)
                    n_marked += 1
    return n_marked


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_relatives(net: Network, layer: Size, first: Size, last: Size) -> Size:
    """Find children of blocks of a layer, and parents that they send flow; return the number found so far."""
    n: Size = last
    k: Size
    for k in range(first, last):
        u: Size = net.queue[k]
        child: Size = net.first_child[u]
        while child >= 0:
            if net.slice_of[child] == net.slice_of[u]:
                n = find(net, child, layer, n)
            child = net.next_sibling[child]
        if net.up[u] > 0:
            n = find(net, net.parent[u], layer, n)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def visit_members(net: Network, layer: Size, n_marked: Size, n: Size) -> Size:
    """Find the members of marked pairs; return the number found so far."""
    k: Size
    q: Size
    for k in range(n_marked):
        j: Size = net.marked[k]
        for q in range(net.listed[j].start, net.listed[j].start + net.listed[j].n_members):
            n = find(net, net.member[q].block, layer, n)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def visit_blocks(net: Network, layer: Size, n_left: Size, n: Size) -> Size:
    """Find the unreached blocks that use a marked pair; return the number found so far."""
    k: Size
    a: Size
    for k in range(n_left):
        u: Size = net.left[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.pair_height[net.arc_pair[a]] != UNREACHED:
                n = find(net, u, layer, n)
                break
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drop_reached(net: Network, n_left: Size) -> Size:
    """Remove reached blocks from the list of those left; return its length."""
    still: Size = 0
    k: Size
    for k in range(n_left):
        if net.height[net.left[k]] == UNREACHED:
            net.left[still] = net.left[k]
            still += 1
    return still
