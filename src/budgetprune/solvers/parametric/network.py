"""The flow network of a closure problem, laid out so that one step of the flow crosses two arcs.

        origin --gain--> block --(any amount)--> pair --level * price--> sink
                           |
                           +----(any amount)---> parent block

A block is a split with the splits below it that need nothing new; a pair is a (source, example). The gain of
a block is absorbed by the pairs that it is the first to use, or by those of its parent. A block whose gain
cannot be absorbed at a level is worth keeping at that price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit

UNREACHED = np.int32(2**30)  # height of blocks and pairs that cannot reach the sink
UNBOUNDED = 2.0**62  # above the sum of all gains

# Columns of `listed` and `member`. Values that are used together are neighbours in memory, because memory
# access takes most of the time.
START, SUPPLIER_STOP, MEMBER_STOP = 0, 1, 2
BLOCK, ARC = 0, 1

IntArray = NDArray[np.int32] | NDArray[np.int64]


class Network(NamedTuple):
    """Arrays of the network. Flows are integers, so all sums are exact.

    Arcs from blocks to pairs are numbered block by block. Each pair lists its member blocks, suppliers (those
    that send flow) first, so that flow that a pair can return is found without reading the other members.
    """

    # blocks
    parent: NDArray[np.int32]  # -1 at roots
    first_child: NDArray[np.int32]
    next_sibling: NDArray[np.int32]
    arc_start: IntArray
    arc_stop: IntArray  # end of the arcs that are still in the block's slice
    up: NDArray[np.int64]  # flow to the parent
    excess: NDArray[np.int64]  # gain not yet absorbed
    room: NDArray[np.int64]  # flow that a block with a negative gain can still absorb
    slice_of: NDArray[np.int32]
    height: NDArray[np.int32]  # lower bound on the number of steps to the sink
    current: IntArray  # arcs before this one lead to no lower neighbour at the present height
    queue: NDArray[np.int32]
    owner: NDArray[np.uint8]  # thread of a search that found the block
    waiting: NDArray[np.bool_]
    # arcs
    arc_pair: NDArray[np.int32]
    flow: NDArray[np.int64]
    # pairs
    price: NDArray[np.float64]
    load: NDArray[np.int64]  # flow to the sink
    capacity: NDArray[np.int64]
    pair_height: NDArray[np.int32]  # lower bound: 0 with spare capacity, else that of the lowest supplier
    listed: IntArray  # of shape (n_pairs, 3): START, SUPPLIER_STOP and MEMBER_STOP of its part of `member`
    member: IntArray  # of shape (n_arcs, 2): BLOCK, and its ARC to the pair


def build_network(
    parent: NDArray[np.int32],
    gain: NDArray[np.int64],
    arc_start: IntArray,
    arc_pair: NDArray[np.int32],
    price: NDArray[np.float64],
) -> Network:
    """Build a network without flow: all gain is excess of its block."""
    n_blocks, n_arcs, n_pairs = len(parent), len(arc_pair), len(price)
    index = arc_start.dtype
    first_child, next_sibling = np.full((2, n_blocks), -1, np.int32)
    listed, member = np.zeros((n_pairs, 3), index), np.empty((n_arcs, 2), index)
    link_children(parent, first_child, next_sibling)
    list_members(arc_start, arc_pair, listed, member)
    return Network(
        parent=parent,
        first_child=first_child,
        next_sibling=next_sibling,
        arc_start=arc_start[:-1].copy(),
        arc_stop=arc_start[1:].copy(),
        up=np.zeros(n_blocks, np.int64),
        excess=np.maximum(gain, 0),
        room=np.maximum(-gain, 0),
        slice_of=np.zeros(n_blocks, np.int32),
        height=np.zeros(n_blocks, np.int32),
        current=np.zeros(n_blocks, index),
        queue=np.empty(n_blocks, np.int32),
        owner=np.zeros(n_blocks, np.uint8),
        waiting=np.zeros(n_blocks, np.bool_),
        arc_pair=arc_pair,
        flow=np.zeros(n_arcs, np.int64),
        price=price,
        load=np.zeros(n_pairs, np.int64),
        capacity=np.zeros(n_pairs, np.int64),
        pair_height=np.zeros(n_pairs, np.int32),
        listed=listed,
        member=member,
    )


@njit(cache=True)
def link_children(
    parent: NDArray[np.int32], first_child: NDArray[np.int32], next_sibling: NDArray[np.int32]
) -> None:
    """Link the children of every block as a list."""
    for u in range(parent.size - 1, -1, -1):
        p = parent[u]
        if p >= 0:
            next_sibling[u] = first_child[p]
            first_child[p] = u


@njit(cache=True)
def list_members(
    arc_start: IntArray,
    arc_pair: NDArray[np.int32],
    listed: IntArray,
    member: IntArray,
) -> None:
    """Transpose the arcs: for every pair, the blocks that use it. None supplies it yet."""
    for a in range(arc_pair.size):
        listed[arc_pair[a], MEMBER_STOP] += 1
    total = 0
    for j in range(len(listed)):
        size = listed[j, MEMBER_STOP]
        listed[j] = total
        total += size
    for u in range(arc_start.size - 1):
        for a in range(arc_start[u], arc_start[u + 1]):
            q = listed[arc_pair[a], MEMBER_STOP]
            member[q, BLOCK], member[q, ARC] = u, a
            listed[arc_pair[a], MEMBER_STOP] = q + 1
