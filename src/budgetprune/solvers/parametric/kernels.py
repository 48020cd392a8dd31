"""The flow network of a closure problem, and push-relabel on its blocks.

        origin --gain--> block --(any amount)--> pair --level * price--> sink
                           |
                           +----(any amount)---> parent block

A block is a split with the splits below it that need nothing new; a pair is a (source, example). The gain of
a block is absorbed by the pairs that it is the first to use, or by those of its parent. A block whose gain
cannot be absorbed at a level is worth keeping at that price.

A pair has no excess of its own. Flow that a block sends to a full pair displaces as much flow of another
block, so one step crosses two arcs:

    u --> pair            u --> pair
           |       =>            |     and the displaced flow is excess of v again
    v --> pair --> sink   v      sink

Flow can thus move from a block to another one through a pair that the other one supplies, from a child to its
parent, and back from a parent to a child that sends flow up.
"""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import ceil
else:
    from math import ceil

    from budgetprune.utils.kernel_types import (
        Doubles,
        Floats,
        Ints,
        OutInts,
        Size,
        int32_t,
        int64_t,
        uint32_t,
    )

    UNREACHED = 2**30

# Above the sum of all gains.
UNBOUNDED = cython.declare(cython.double, 2.0**62)


class Network:
    """Arrays of the network, and scratch memory. Flows are integers, so all sums are exact.

    Arcs from blocks to pairs are numbered block by block. Each pair lists its member blocks, suppliers (those
    that send flow) first, so that flow that a pair can return is found without reading the other members.

    Attributes of blocks
    --------------------
    parent : -1 at roots
    first_child, next_sibling : -1 if there is none
    arc_start, arc_stop : the block's arcs that are still in its slice
    up : flow to the parent
    excess : gain not yet absorbed
    room : flow that a block with a negative gain can still absorb
    slice_of : number of the block's slice
    height : lower bound on the number of steps to the sink
    current : arcs before this one lead to no lower neighbour at the present height

    Attributes of arcs
    ------------------
    arc_pair, flow

    Attributes of pairs
    -------------------
    price : units of flow per unit of the level
    load : flow to the sink
    capacity : largest load
    pair_height : lower bound: 0 with spare capacity, else that of the lowest supplier
    listed : part of `member` that lists the pair's members
    """

    def __init__(
        self,
        parent: Ints,
        gain: NDArray[np.int64],
        arc_start: NDArray[np.int64],
        arc_pair: OutInts,
        price: Doubles,
    ) -> None:
        n_blocks, n_arcs, n_pairs = len(parent), len(arc_pair), len(price)
        self.parent = parent
        self.first_child, self.next_sibling = np.full((2, n_blocks), -1, np.int32)
        self.arc_start = arc_start[:n_blocks].copy()
        self.arc_stop = arc_start[1:].copy()
        self.up = np.zeros(n_blocks, np.int64)
        self.excess = np.maximum(gain, 0)
        self.room = np.maximum(-gain, 0)
        self.slice_of = np.zeros(n_blocks, np.int32)
        self.height = np.zeros(n_blocks, np.int32)
        self.current = np.zeros(n_blocks, np.int64)
        self.queue = np.empty(n_blocks, np.int32)
        self.left = np.empty(n_blocks, np.int32)
        self.at_height = np.empty(n_blocks + 3, np.int32)
        self.waiting = np.zeros(n_blocks, np.bool_)
        self.arc_pair = arc_pair
        self.flow = np.zeros(n_arcs, np.int64)
        self.price = price
        self.load = np.zeros(n_pairs, np.int64)
        self.capacity = np.zeros(n_pairs, np.int64)
        self.pair_height = np.zeros(n_pairs, np.int32)
        self.marked = np.empty(n_pairs, np.int32)
        listed = np.zeros(n_pairs, [("start", np.int64), ("n_suppliers", np.int32), ("n_members", np.int32)])
        member = np.empty(n_arcs, [("block", np.int32), ("offset", np.uint32)])
        self.listed = listed if cython.compiled else listed.view(np.recarray)
        self.member = member if cython.compiled else member.view(np.recarray)
        with cython.nogil:
            link_children(self)
            list_members(self)

    def start(self, flow: Floats, up: Doubles, unit: float) -> None:
        """Start with an approximate flow, instead of none.

        It is limited to the gain that is there; what is left is excess.

        Parameters
        ----------
        flow : of each arc, as a share of `unit`
        up : to each block's parent, as a share of `unit`
        unit : in units of flow
        """
        factor: cython.double = unit
        with cython.nogil:
            set_flow(self, flow, up, factor)
            list_members(self)

    def cut_off(self) -> NDArray[np.bool_]:
        """Mark the blocks that the last search did not reach from the sink."""
        cut_off: NDArray[np.bool_] = np.asarray(self.height) == UNREACHED
        return cut_off


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def link_children(net: Network) -> cython.void:
    """Link the children of every block as a list."""
    u: Size
    for u in range(net.parent.shape[0] - 1, -1, -1):
        p: Size = net.parent[u]
        if p >= 0:
            net.next_sibling[u] = net.first_child[p]
            net.first_child[p] = cython.cast(int32_t, u)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_flow(net: Network, flow: Floats, up: Doubles, unit: cython.double) -> cython.void:
    """Set the flow of blocks whose gain is still excess, children before their parents."""
    u: Size
    a: Size
    for u in range(net.parent.shape[0] - 1, -1, -1):
        rest: int64_t = net.excess[u]
        sent: int64_t = min(rest, net.room[u])
        net.room[u] -= sent
        rest -= sent
        for a in range(net.arc_start[u], net.arc_stop[u]):
            sent = min(rest, cython.cast(int64_t, flow[a] * unit))
            net.flow[a] = sent
            net.load[net.arc_pair[a]] += sent
            rest -= sent
        if net.parent[u] >= 0:
            sent = min(rest, cython.cast(int64_t, up[u] * unit))
            net.up[u] = sent
            net.excess[net.parent[u]] += sent
            rest -= sent
        net.excess[u] = rest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def list_members(net: Network) -> cython.void:
    """Transpose the arcs: for every pair, the blocks that use it, those that supply it first."""
    a: Size
    j: Size
    u: Size
    total: Size = 0
    for j in range(net.price.shape[0]):
        net.listed[j].n_members = 0
    for a in range(net.arc_pair.shape[0]):
        net.listed[net.arc_pair[a]].n_members += 1
    for j in range(net.price.shape[0]):
        net.listed[j].start = total
        total += net.listed[j].n_members
        net.listed[j].n_members = 0
    for u in range(net.parent.shape[0]):
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] > 0:
                add_member(net, net.arc_pair[a], u, a)
    for j in range(net.price.shape[0]):
        net.listed[j].n_suppliers = net.listed[j].n_members
    for u in range(net.parent.shape[0]):
        for a in range(net.arc_start[u], net.arc_stop[u]):
            if net.flow[a] == 0:
                add_member(net, net.arc_pair[a], u, a)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_member(net: Network, j: Size, u: Size, a: Size) -> cython.void:
    """List a block, whose arc to the pair is `a`, as the last member of the pair."""
    q: Size = net.listed[j].start + net.listed[j].n_members
    net.member[q].block = cython.cast(int32_t, u)
    net.member[q].offset = a - net.arc_start[u]
    net.listed[j].n_members += 1


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def set_level(net: Network, pairs: Ints, level: cython.double) -> cython.void:
    """Set the capacities of a slice for a level, rounded up, and return flow that exceeds them."""
    k: Size
    for k in range(pairs.shape[0]):
        j: Size = pairs[k]
        capacity: cython.double = ceil(level * net.price[j])
        net.capacity[j] = cython.cast(int64_t, capacity if capacity < UNBOUNDED else UNBOUNDED)
        surplus: int64_t = net.load[j] - net.capacity[j]
        if surplus <= 0:
            continue
        net.load[j] = net.capacity[j]
        q: Size = net.listed[j].start + net.listed[j].n_suppliers - 1
        while surplus > 0:
            u: Size = net.member[q].block
            a: Size = net.arc_start[u] + net.member[q].offset
            back: int64_t = min(surplus, net.flow[a])
            net.flow[a] -= back
            net.excess[u] += back
            surplus -= back
            if net.flow[a] == 0:
                net.listed[j].n_suppliers -= 1
            q -= 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def swap_members(net: Network, q: Size, other: Size) -> cython.void:
    """Swap two members of a pair."""
    block: int32_t = net.member[q].block
    offset: uint32_t = net.member[q].offset
    net.member[q].block = net.member[other].block
    net.member[q].offset = net.member[other].offset
    net.member[other].block = block
    net.member[other].offset = offset


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def start_supplying(net: Network, j: Size, u: Size) -> cython.void:
    """Move a block to the suppliers of a pair."""
    stop: Size = net.listed[j].start + net.listed[j].n_suppliers
    q: Size = stop
    while net.member[q].block != u:
        q += 1
    swap_members(net, q, stop)
    net.listed[j].n_suppliers += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def enqueue(net: Network, size: Size, head: Size, n_waiting: Size, u: Size) -> Size:
    """Append a block to the queue, unless it is in there already; return the length of the queue."""
    if net.waiting[u]:
        return n_waiting
    net.waiting[u] = True
    tail: Size = head + n_waiting
    net.queue[tail if tail < size else tail - size] = cython.cast(int32_t, u)
    return n_waiting + 1


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def discharge(net: Network, blocks: Ints, limit: Size) -> cython.bint:
    """Push excess towards the sink in first-in, first-out order, until all is absorbed or cut off.

    Stops early once `limit` arcs were visited. Heights must be exact at the start. Blocks wait in a queue, so
    that flow that reaches a block from several others moves on in one step. Returns whether any excess could
    move.
    """
    size: Size = blocks.shape[0]
    top: Size = size + 2
    head: Size = 0
    n_waiting: Size = 0
    k: Size
    u: Size
    for k in range(top + 1):
        net.at_height[k] = 0  # number of blocks by height
    for k in range(size):
        u = blocks[k]
        net.current[u] = net.arc_start[u]
        net.waiting[u] = False
        if net.height[u] < UNREACHED:
            net.at_height[net.height[u]] += 1
            if net.excess[u] > 0:
                n_waiting = enqueue(net, size, head, n_waiting, u)
    if n_waiting == 0:
        return False
    work: Size = 0
    ceiling: Size = top  # no block above reaches the sink
    while n_waiting > 0 and work < limit:
        u = net.queue[head]
        head = head + 1 if head + 1 < size else 0
        net.waiting[u] = False
        n_waiting -= 1
        h: Size = net.height[u]
        if h > ceiling:
            continue
        rest: int64_t = net.excess[u]
        push: int64_t
        p: Size = net.parent[u]
        has_parent: cython.bint = p >= 0 and net.slice_of[p] == net.slice_of[u]
        stop: Size = net.arc_stop[u]

        if h == 1 and net.room[u] > 0:
            push = min(rest, net.room[u])
            net.room[u] -= push
            rest -= push
        if rest > 0 and has_parent and net.height[p] == h - 1:
            net.up[u] += rest
            net.excess[p] += rest
            rest = 0
            n_waiting = enqueue(net, size, head, n_waiting, p)
        child: Size = net.first_child[u]
        while child >= 0 and rest > 0:
            if net.up[child] > 0 and net.height[child] == h - 1 and net.slice_of[child] == net.slice_of[u]:
                push = min(rest, net.up[child])
                net.up[child] -= push
                net.excess[child] += push
                rest -= push
                n_waiting = enqueue(net, size, head, n_waiting, child)
            child = net.next_sibling[child]

        lowest: Size
        a: Size = net.current[u]
        while rest > 0 and a < stop:
            j: Size = net.arc_pair[a]
            work += 1
            if net.pair_height[j] == h - 1:
                sent: int64_t = net.flow[a]
                if h == 1:
                    push = min(rest, net.capacity[j] - net.load[j])
                    net.flow[a] += push
                    net.load[j] += push
                    rest -= push
                    if net.load[j] == net.capacity[j]:
                        net.pair_height[j] = 1
                else:
                    lowest = UNREACHED
                    q: Size = net.listed[j].start
                    q_stop: Size = q + net.listed[j].n_suppliers
                    while rest > 0 and q < q_stop:
                        v: Size = net.member[q].block
                        work += 1
                        if net.height[v] == h - 1:
                            b: Size = net.arc_start[v] + net.member[q].offset
                            push = min(rest, net.flow[b])
                            net.flow[b] -= push
                            net.flow[a] += push
                            rest -= push
                            net.excess[v] += push
                            n_waiting = enqueue(net, size, head, n_waiting, v)
                            if net.flow[b] == 0:
                                q_stop -= 1
                                net.listed[j].n_suppliers -= 1
                                swap_members(net, q, q_stop)
                                continue
                        elif v != u and net.height[v] < lowest:
                            lowest = net.height[v]
                        q += 1
                    if rest > 0:
                        # u itself supplies the pair now, and will be relabelled.
                        if net.flow[a] > 0 and h + 1 < lowest:
                            lowest = h + 1
                        net.pair_height[j] = cython.cast(int32_t, lowest)
                if sent == 0 and net.flow[a] > 0:
                    start_supplying(net, j, u)
            if rest > 0:
                a += 1
        net.current[u] = a
        net.excess[u] = rest
        if rest == 0:
            continue
        # No lower neighbour is left: relabel to one above the lowest neighbour.
        lowest = net.height[p] if has_parent else UNREACHED
        child = net.first_child[u]
        while child >= 0:
            if net.up[child] > 0 and net.slice_of[child] == net.slice_of[u] and net.height[child] < lowest:
                lowest = net.height[child]
            child = net.next_sibling[child]
        a = net.arc_start[u]
        net.current[u] = a
        while lowest > h and a < stop:
            if net.pair_height[net.arc_pair[a]] < lowest:
                lowest = net.pair_height[net.arc_pair[a]]
                net.current[u] = a  # pairs before it are higher, and heights never decrease
            a += 1
        work += a - net.arc_start[u]
        net.at_height[h] -= 1
        if net.at_height[h] == 0 and h < ceiling:
            ceiling = h
        h = lowest + 1
        net.height[u] = cython.cast(int32_t, min(h, UNREACHED))
        if h <= ceiling:
            net.at_height[h] += 1
            n_waiting = enqueue(net, size, head, n_waiting, u)
    return True
