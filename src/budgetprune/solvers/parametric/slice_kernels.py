"""Cut a slice of the network in two, and find the blocks of a slice that are strictly worth keeping."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import ceil
else:
    from math import ceil

    from budgetprune.solvers.parametric.kernels import UNREACHED, Network, add_member
    from budgetprune.utils.kernel_types import (
        Ints,
        Longs,
        OutDoubles,
        OutFlags,
        OutInts,
        Size,
        int32_t,
    )


def split(net: Network, blocks: OutInts, pairs: OutInts, name: int) -> tuple[int, int]:
    """Separate blocks and pairs that cannot reach the sink (worth keeping at this level) from the others.

    They come first in `blocks` and `pairs`, both in their old order, and the blocks get the slice number
    `name`. Arcs between the two parts carry no flow, since no flow crosses a minimum cut backwards. They are
    removed: the pairs are paid for, so the blocks of the other part use them for free.

    Returns
    -------
    n_blocks, n_pairs : int
        Size of the first part.
    """
    n_blocks: Size
    n_pairs: Size
    number: int32_t = name
    with cython.nogil:
        n_blocks = stable_partition(blocks, net.height, net.left)
        n_pairs = stable_partition(pairs, net.pair_height, net.marked)
        name_slice(net, blocks, n_blocks, number)
        keep_members(net, pairs, n_pairs, number)
        rebuild_members(net, blocks, n_blocks, pairs, n_pairs)
    return n_blocks, n_pairs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def stable_partition(items: OutInts, height: Ints, rest: OutInts) -> Size:
    """Move the items that are unreached to the front; return their number."""
    front: Size = 0
    n_rest: Size = 0
    k: Size
    for k in range(items.shape[0]):
        if height[items[k]] == UNREACHED:
            items[front] = items[k]
            front += 1
        else:
            rest[n_rest] = items[k]
            n_rest += 1
    for k in range(n_rest):
        items[front + k] = rest[k]
    return front


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def name_slice(net: Network, blocks: Ints, n_blocks: Size, number: int32_t) -> cython.void:
    """Give the first blocks another slice number."""
    k: Size
    for k in range(n_blocks):
        net.slice_of[blocks[k]] = number


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def keep_members(net: Network, pairs: Ints, n_pairs: Size, number: int32_t) -> cython.void:
    """Remove members of the first pairs that are in other slices; none of them is a supplier."""
    k: Size
    q: Size
    for k in range(n_pairs):
        j: Size = pairs[k]
        start: Size = net.listed[j].start
        stop: Size = start
        for q in range(start, start + net.listed[j].n_members):
            if net.slice_of[net.member[q].block] == number:
                net.member[stop].block = net.member[q].block
                net.member[stop].offset = net.member[q].offset
                stop += 1
        net.listed[j].n_members = cython.cast(int32_t, stop - start)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rebuild_members(net: Network, blocks: Ints, n_blocks: Size, pairs: Ints, n_pairs: Size) -> cython.void:
    """Remove the arcs of the other blocks to unreached pairs; list the members of the other pairs again."""
    k: Size
    a: Size
    u: Size
    j: Size
    for k in range(n_pairs, pairs.shape[0]):
        net.listed[pairs[k]].n_members = 0
    for k in range(n_blocks, blocks.shape[0]):
        u = blocks[k]
        stop: Size = net.arc_start[u]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            j = net.arc_pair[a]
            if net.pair_height[j] < UNREACHED:
                net.arc_pair[stop] = cython.cast(int32_t, j)
                net.flow[stop] = net.flow[a]
                if net.flow[stop] > 0:
                    add_member(net, j, u, stop)
                stop += 1
        net.arc_stop[u] = stop
    for k in range(n_pairs, pairs.shape[0]):
        net.listed[pairs[k]].n_suppliers = net.listed[pairs[k]].n_members
    for k in range(n_blocks, blocks.shape[0]):
        u = blocks[k]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] == 0:
                add_member(net, net.arc_pair[a], u, a)


def mark_worthwhile(
    net: Network, blocks: Ints, pairs: Ints, level: cython.double, worthwhile: OutFlags
) -> None:
    """Mark the blocks of a slice that every optimal set at `level` has: they are the smallest optimal set.

    These are the blocks that can be reached from a surplus: excess that is not absorbed, or flow to a pair
    beyond its capacity. The other blocks of the slice gain as much as they cost.
    """
    with cython.nogil:
        reach(net, find_surplus(net, blocks, pairs, level, worthwhile), worthwhile)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_surplus(net: Network, blocks: Ints, pairs: Ints, level: cython.double, worthwhile: OutFlags) -> Size:
    """Mark blocks with a surplus and put them on the stack; return its height."""
    n: Size = 0
    k: Size
    for k in range(blocks.shape[0]):
        u: Size = blocks[k]
        worthwhile[u] = net.excess[u] > 0
        if worthwhile[u]:
            net.queue[n] = cython.cast(int32_t, u)
            n += 1
    for k in range(pairs.shape[0]):
        j: Size = pairs[k]
        net.pair_height[j] = 0  # not visited yet
        if net.load[j] > ceil(level * net.price[j]):
            n = reach_suppliers(net, j, n, worthwhile)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reach(net: Network, n: Size, worthwhile: OutFlags) -> cython.void:
    """Mark all blocks that the first `n` of the stack reach."""
    a: Size
    while n > 0:
        n -= 1
        u: Size = net.queue[n]
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.pair_height[net.arc_pair[a]] == 0:
                n = reach_suppliers(net, net.arc_pair[a], n, worthwhile)
        p: Size = net.parent[u]
        if p >= 0 and net.slice_of[p] == net.slice_of[u]:
            n = reach_block(net, p, n, worthwhile)
        child: Size = net.first_child[u]
        while child >= 0:
            if net.up[child] > 0 and net.slice_of[child] == net.slice_of[u]:
                n = reach_block(net, child, n, worthwhile)
            child = net.next_sibling[child]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def reach_block(net: Network, u: Size, n: Size, worthwhile: OutFlags) -> Size:
    """Mark a block and put it on the stack, unless it is marked; return the height of the stack."""
    if worthwhile[u]:
        return n
    worthwhile[u] = True
    net.queue[n] = cython.cast(int32_t, u)
    return n + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reach_suppliers(net: Network, j: Size, n: Size, worthwhile: OutFlags) -> Size:
    """Mark the suppliers of a pair, and put them on the stack; return its height."""
    net.pair_height[j] = UNREACHED
    q: Size
    for q in range(net.listed[j].start, net.listed[j].start + net.listed[j].n_suppliers):
        n = reach_block(net, net.member[q].block, n, worthwhile)
    return n


def resolve_ties(parent: Ints, up: Longs, worthwhile: OutFlags, critical: OutDoubles) -> None:
    """Keep blocks that break even only as long as other blocks need them.

    A kept descendant needs its ancestors. An ancestor that is kept for it also keeps the blocks that help to
    pay for it, that is, send flow up to it.
    """
    u: Size
    n: Size = parent.shape[0]
    for u in range(n):
        if not worthwhile[u]:
            critical[u] = 0.0
    for u in range(n - 1, -1, -1):  # children come after their parents
        if parent[u] >= 0:
            critical[parent[u]] = max(critical[parent[u]], critical[u])
    for u in range(n):
        if up[u] > 0:
            critical[u] = max(critical[u], critical[parent[u]])
