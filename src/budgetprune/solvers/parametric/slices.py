"""Slices: parts of a closure problem whose critical levels lie in one interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.divide_kernels import copy_arcs, count_arcs, number_parts_of_pairs
from budgetprune.solvers.parametric.graph import Closure

__all__ = ["Slice", "divide", "parts_of_pairs", "whole"]


@dataclass(frozen=True, eq=False)
class Slice:
    """Some blocks of a closure problem and the pairs that they pay for, numbered on their own.

    The slice is a closure problem itself: its blocks use the pairs of higher slices for free, and blocks
    whose parents are in higher slices have none here.

    Attributes
    ----------
    low, high : float
        Between these are the critical levels of the slice, unless a division was mistaken.
    block : int32 array of shape (n_blocks,)
        Numbers of the blocks in the closure problem, in rising order.
    tree, parent, gain, arc_start, arc_pair, price
        As in `Closure`; prices are in units of flow per unit of the level.
    flow : float32 array of shape (n_arcs,)
        Approximately balanced flow, as a share of `TOTAL`.
    level : float64 array of shape (n_blocks,)
        Approximate critical levels.
    is_balanced : bool
        Whether `flow` and `level` have values yet.
    """

    low: float
    high: float
    block: NDArray[np.int32]
    tree: NDArray[np.int32]
    parent: NDArray[np.int32]
    gain: NDArray[np.int64]
    arc_start: NDArray[np.int64]
    arc_pair: NDArray[np.int32]
    price: NDArray[np.float64]
    flow: NDArray[np.float32]
    level: NDArray[np.float64]
    is_balanced: bool


def whole(closure: Closure, tree: NDArray[np.int32]) -> Slice:
    """Make a slice of the whole problem, without flow."""
    n_blocks = len(closure.parent)
    arc_pair = closure.arc_pair.view()
    arc_pair.flags.writeable = False
    return Slice(
        low=0.0,
        high=np.inf,
        block=np.arange(n_blocks, dtype=np.int32),
        tree=tree,
        parent=closure.parent,
        gain=closure.gain,
        arc_start=closure.arc_start,
        arc_pair=arc_pair,
        price=closure.price * closure.unit,
        flow=np.zeros(len(closure.arc_pair), np.float32),
        level=np.zeros(n_blocks),
        is_balanced=False,
    )


def parts_of_pairs(slice_: Slice, part: NDArray[np.int32]) -> NDArray[np.int32]:
    """Find the part that pays for each pair: the highest one that uses it."""
    part_of_pair = np.full(len(slice_.price), -1, np.int32)
    number_parts_of_pairs(slice_.arc_start, slice_.arc_pair, part, part_of_pair)
    return part_of_pair


def divide(
    slice_: Slice,
    part: NDArray[np.int32],
    limits: Sequence[tuple[int, float, float]],
    move: bool = True,
) -> list[Slice]:
    """Divide a slice into parts, numbered by rising level.

    Parameters
    ----------
    part : int32 array of shape (n_blocks,)
        Part of each block; no block has a higher part than its parent.
    limits : list of (part, low, high)
        The wanted parts, in rising order.
    move : bool
        Move blocks whose gain nothing in their part absorbs to higher parts; `part` is changed.
    """
    part_of_pair = parts_of_pairs(slice_, part)
    n_arcs = np.empty(len(part), np.int64)
    count_arcs(
        slice_.parent, slice_.gain, slice_.arc_start, slice_.arc_pair, part, part_of_pair, move, n_arcs
    )
    return [_take(slice_, part, part_of_pair, n_arcs, *limit) for limit in limits]


def _take(
    slice_: Slice,
    part: NDArray[np.int32],
    part_of_pair: NDArray[np.int32],
    n_arcs: NDArray[np.int64],
    number: int,
    low: float,
    high: float,
) -> Slice:
    blocks = np.flatnonzero(part == number).astype(np.int32)
    pairs = np.flatnonzero(part_of_pair == number)
    new_block = np.full(len(part) + 1, -1, np.int32)  # the last entry is for blocks without a parent
    new_block[blocks] = np.arange(len(blocks), dtype=np.int32)
    new_pair = np.empty(len(part_of_pair), np.int32)
    new_pair[pairs] = np.arange(len(pairs), dtype=np.int32)
    arc_start = np.concatenate([[0], np.cumsum(n_arcs[blocks])])
    arc_pair, flow = np.empty(arc_start[-1], np.int32), np.empty(arc_start[-1], np.float32)
    copy_arcs(
        blocks,
        slice_.arc_start,
        slice_.arc_pair,
        slice_.flow,
        part,
        part_of_pair,
        new_pair,
        arc_start,
        arc_pair,
        flow,
    )
    return Slice(
        low=low,
        high=high,
        block=slice_.block[blocks],
        tree=slice_.tree[blocks],
        parent=new_block[slice_.parent[blocks]],
        gain=slice_.gain[blocks],
        arc_start=arc_start,
        arc_pair=arc_pair,
        price=slice_.price[pairs],
        flow=flow,
        level=slice_.level[blocks],
        is_balanced=slice_.is_balanced,
    )
