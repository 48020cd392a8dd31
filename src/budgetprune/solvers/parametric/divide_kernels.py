"""Kernels that divide a slice into parts.

Parts are numbered by rising level. A pair belongs to the highest part that uses it, which pays for it; lower
parts use it for free.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.utils.kernel_types import Floats, Ints, Longs, OutFloats, OutInts, OutLongs, Size


def number_parts_of_pairs(arc_start: Longs, arc_pair: Ints, part: Ints, part_of_pair: OutInts) -> None:
    """Fill in the highest part that uses each pair; the array is -1 before."""
    u: Size
    a: Size
    with cython.nogil:
        for u in range(part.shape[0]):
            for a in range(arc_start[u], arc_start[u + 1]):
                if part_of_pair[arc_pair[a]] < part[u]:
                    part_of_pair[arc_pair[a]] = part[u]


def limit_by_parents(parent: Ints, part: OutInts) -> None:
    """Lower the parts of blocks to those of their parents."""
    u: Size
    with cython.nogil:
        for u in range(part.shape[0]):
            if parent[u] >= 0 and part[u] > part[parent[u]]:
                part[u] = part[parent[u]]


def count_arcs(
    parent: Ints,
    gain: Longs,
    arc_start: Longs,
    arc_pair: Ints,
    part: OutInts,
    part_of_pair: Ints,
    move: bool,
    n_arcs: OutLongs,
) -> None:
    """Count the arcs of each block to pairs of its part.

    A block with a gain that nothing in its part absorbs is kept as soon as its pairs or its parent are. If
    `move`, it moves to the lowest part of these.
    """
    u: Size
    a: Size
    k: Size
    most: cython.int = 2147483647
    may_move: cython.bint = move
    with cython.nogil:
        for u in range(part.shape[0]):
            count: Size = 0
            lowest: cython.int = most
            if parent[u] >= 0:
                lowest = part[parent[u]]
            for a in range(arc_start[u], arc_start[u + 1]):
                k = part_of_pair[arc_pair[a]]
                count += 1 if k == part[u] else 0
                lowest = min(lowest, part_of_pair[arc_pair[a]])
            if may_move and part[u] < lowest and lowest < most and gain[u] > 0:
                part[u] = lowest
                count = 0
                for a in range(arc_start[u], arc_start[u + 1]):
                    count += 1 if part_of_pair[arc_pair[a]] == lowest else 0
            n_arcs[u] = count


def copy_arcs(
    blocks: Ints,
    arc_start: Longs,
    arc_pair: Ints,
    flow: Floats,
    part: Ints,
    part_of_pair: Ints,
    new_pair: Ints,
    new_start: Longs,
    new_arc_pair: OutInts,
    new_flow: OutFloats,
) -> None:
    """Copy the arcs of some blocks to pairs of their part; pairs get new numbers."""
    k: Size
    a: Size
    with cython.nogil:
        for k in range(blocks.shape[0]):
            u: Size = blocks[k]
            to: Size = new_start[k]
            for a in range(arc_start[u], arc_start[u + 1]):
                j: Size = arc_pair[a]
                if part_of_pair[j] == part[u]:
                    new_arc_pair[to] = new_pair[j]
                    new_flow[to] = flow[a]
                    to += 1
