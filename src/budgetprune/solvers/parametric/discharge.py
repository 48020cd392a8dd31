"""Push-relabel on blocks: move excess towards the sink, in first-in, first-out order.

A pair has no excess of its own. Flow that a block sends to a full pair displaces as much flow of another
block, so one step crosses two arcs:

    u --> pair            u --> pair
           |       =>            |     and the displaced flow is excess of v again
    v --> pair --> sink   v      sink

Blocks wait in a queue, so that flow that reaches a block from several others moves on in one step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.network import (
    ARC,
    BLOCK,
    START,
    SUPPLIER_STOP,
    UNBOUNDED,
    UNREACHED,
    IntArray,
    Network,
)
from budgetprune.utils.jit import njit


@njit(cache=True)
def set_level(net: Network, pairs: NDArray[np.int32], level: float) -> None:
    """Set the capacities of a slice for a level, rounded up, and return flow that exceeds them."""
    for k in range(pairs.size):
        j = pairs[k]
        net.capacity[j] = np.int64(min(np.ceil(level * net.price[j]), UNBOUNDED))
        surplus = net.load[j] - net.capacity[j]
        if surplus <= 0:
            continue
        net.load[j] = net.capacity[j]
        q = net.listed[j, SUPPLIER_STOP] - 1
        while surplus > 0:
            a = net.member[q, ARC]
            back = min(surplus, net.flow[a])
            net.flow[a] -= back
            net.excess[net.member[q, BLOCK]] += back
            surplus -= back
            if net.flow[a] == 0:
                net.listed[j, SUPPLIER_STOP] = q
            q -= 1


@njit(cache=True)
def swap_members(member: IntArray, q: int, other: int) -> None:
    """Swap two members of a pair."""
    block, arc = member[q, BLOCK], member[q, ARC]
    member[q, BLOCK], member[q, ARC] = member[other, BLOCK], member[other, ARC]
    member[other, BLOCK], member[other, ARC] = block, arc


@njit(cache=True)
def start_supplying(listed: IntArray, member: IntArray, j: int, u: int) -> None:
    """Move a block to the suppliers of a pair."""
    stop = listed[j, SUPPLIER_STOP]
    q = stop
    while member[q, BLOCK] != u:
        q += 1
    swap_members(member, q, stop)
    listed[j, SUPPLIER_STOP] = stop + 1


@njit(cache=True)
def enqueue(queue: NDArray[np.int32], waiting: NDArray[np.bool_], head: int, n_waiting: int, u: int) -> int:
    """Append a block to the queue, unless it is in there already; return the length of the queue."""
    if waiting[u]:
        return n_waiting
    waiting[u] = True
    tail = head + n_waiting
    queue[tail if tail < queue.size else tail - queue.size] = u
    return n_waiting + 1


@njit(cache=True)
def discharge(net: Network, blocks: NDArray[np.int32], limit: int) -> bool:
    """Push excess towards the sink, until all is absorbed or cut off, or `limit` arcs were visited.

    Heights must be exact at the start. Returns whether any excess could move.
    """
    height, pair_height, waiting = net.height, net.pair_height, net.waiting
    excess, flow, up, slice_of = net.excess, net.flow, net.up, net.slice_of
    load, capacity, room = net.load, net.capacity, net.room
    arc_pair, current = net.arc_pair, net.current
    listed, member = net.listed, net.member

    top = blocks.size + 2
    at_height = np.zeros(top + 1, np.int32)  # number of blocks by height
    queue = net.queue[: blocks.size]
    n_waiting = head = 0
    for k in range(blocks.size):
        u = blocks[k]
        current[u] = net.arc_start[u]
        waiting[u] = False
        if height[u] < UNREACHED:
            at_height[height[u]] += 1
            if excess[u] > 0:
                n_waiting = enqueue(queue, waiting, head, n_waiting, u)
    if n_waiting == 0:
        return False
    work = 0
    ceiling = top  # no block above reaches the sink
    while n_waiting > 0 and work < limit:
        u = queue[head]
        head = head + 1 if head + 1 < queue.size else 0
        waiting[u] = False
        n_waiting -= 1
        h = height[u]
        if h > ceiling:
            continue
        rest = excess[u]
        p = net.parent[u]
        has_parent = p >= 0 and slice_of[p] == slice_of[u]
        stop = net.arc_stop[u]

        if h == 1 and room[u] > 0:
            push = min(rest, room[u])
            room[u] -= push
            rest -= push
        if rest > 0 and has_parent and height[p] == h - 1:
            up[u] += rest
            excess[p] += rest
            rest = 0
            n_waiting = enqueue(queue, waiting, head, n_waiting, p)
        child = net.first_child[u]
        while child >= 0 and rest > 0:
            if up[child] > 0 and height[child] == h - 1 and slice_of[child] == slice_of[u]:
                push = min(rest, up[child])
                up[child] -= push
                excess[child] += push
                rest -= push
                n_waiting = enqueue(queue, waiting, head, n_waiting, child)
            child = net.next_sibling[child]

        a = current[u]
        while rest > 0 and a < stop:
            j = arc_pair[a]
            work += 1
            if pair_height[j] == h - 1:
                sent = flow[a]
                if h == 1:
                    push = min(rest, capacity[j] - load[j])
                    flow[a] += push
                    load[j] += push
                    rest -= push
                    if load[j] == capacity[j]:
                        pair_height[j] = 1
                else:
                    lowest = UNREACHED
                    q = listed[j, START]
                    while rest > 0 and q < listed[j, SUPPLIER_STOP]:
                        v, b = member[q, BLOCK], member[q, ARC]
                        if height[v] == h - 1:
                            push = min(rest, flow[b])
                            flow[b] -= push
                            flow[a] += push
                            rest -= push
                            excess[v] += push
                            n_waiting = enqueue(queue, waiting, head, n_waiting, v)
                            if flow[b] == 0:
                                listed[j, SUPPLIER_STOP] -= 1
                                swap_members(member, q, listed[j, SUPPLIER_STOP])
                                q -= 1
                        elif v != u:
                            lowest = min(lowest, height[v])
                        q += 1
                        work += 1
                    if rest > 0:
                        # u itself supplies the pair now, and will be relabelled.
                        pair_height[j] = min(lowest, h + 1) if flow[a] > 0 else lowest
                if sent == 0 and flow[a] > 0:
                    start_supplying(listed, member, j, u)
            if rest > 0:
                a += 1
        current[u] = a
        excess[u] = rest
        if rest == 0:
            continue
        # No lower neighbour is left: relabel to one above the lowest neighbour.
        lowest = height[p] if has_parent else UNREACHED
        child = net.first_child[u]
        while child >= 0:
            if up[child] > 0 and slice_of[child] == slice_of[u]:
                lowest = min(lowest, height[child])
            child = net.next_sibling[child]
        a = net.arc_start[u]
        current[u] = a
        while lowest > h and a < stop:
            if pair_height[arc_pair[a]] < lowest:
                lowest = pair_height[arc_pair[a]]
                current[u] = a  # pairs before it are higher, and heights never decrease
            a += 1
        work += a - net.arc_start[u]
        at_height[h] -= 1
        if at_height[h] == 0:
            ceiling = min(ceiling, h)
        h = lowest + 1
        height[u] = min(h, UNREACHED)
        if h <= ceiling:
            at_height[h] += 1
            n_waiting = enqueue(queue, waiting, head, n_waiting, u)
    return True
