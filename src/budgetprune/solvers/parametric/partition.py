"""Division of a slice at several levels at once, where a balanced flow suggests it.

Most blocks are far from the levels of a division, relative to the error of their approximate levels, so their
sides are clear. The blocks near a level are its rim: a maximum flow through the rim alone tells which of them
are worth keeping at that level. A mistaken division shows in the result: some critical levels lie outside of
the limits of their slice. Whoever divides must check this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.balance_kernels import Balance, balance_trees
from budgetprune.solvers.parametric.divide_kernels import limit_by_parents
from budgetprune.solvers.parametric.graph import TOTAL
from budgetprune.solvers.parametric.kernels import Network
from budgetprune.solvers.parametric.levels import route
from budgetprune.solvers.parametric.slices import Slice, divide

__all__ = ["balanced", "partition", "start_network"]

# Rounds over the trees: at first, and before each further attempt to divide a slice.
FIRST_ROUNDS, MORE_ROUNDS, ATTEMPTS = 5, 3, 3
# Largest number of parts of one division.
PARTS = 8
# Slices with fewer arcs are not divided: exact flows are as fast.
FEWEST_ARCS = 20_000
# Error of approximate levels, relative to their last changes. The errors of most blocks (`TYPICAL` of the
# arcs) are measured by their largest change, those of the others one by one.
ERROR_PER_CHANGE, OWN_ERROR_PER_CHANGE, TYPICAL = 25.0, 30.0, 0.95
SMALLEST_ERROR, LARGEST_ERROR = 1e-4, 0.5
# Largest rim of a level, as a share of the arcs.
LARGEST_RIM = 0.15
# Lower prices, as a share of the highest, count as this much in balanced flows.
SMALLEST_PRICE = 1e-25
# Candidates for a level that are compared with each other.
MOST_CANDIDATES = 500


def balanced(slice_: Slice, n_rounds: int) -> tuple[Slice, NDArray[np.float64], NDArray[np.float64]]:
    """Balance the flow of a slice further.

    Returns
    -------
    slice_ : Slice
        With new levels; its flow is changed in place.
    up : float64 array
        Flow of each block to its parent.
    change : float64 array
        Absolute change of each level in the last round.
    """
    tree_start = np.concatenate([[0], np.flatnonzero(np.diff(slice_.tree)) + 1, [len(slice_.tree)]]).astype(
        np.int64
    )
    # Gains as shares of all gains, prices of the highest: single precision has not the range for more.
    highest = slice_.price.max(initial=0.0) or 1.0
    scale = TOTAL / highest
    level = slice_.level / scale
    net = Balance(
        slice_.parent,
        slice_.gain / TOTAL,
        slice_.arc_start,
        slice_.arc_pair,
        np.maximum(slice_.price / highest, SMALLEST_PRICE).astype(np.float32),
        slice_.flow,
        level,
        int(np.diff(slice_.arc_start[tree_start]).max(initial=0)),
    )
    for k in range(n_rounds):
        balance_trees(net, tree_start, k == 0 and not slice_.is_balanced)
    level *= scale
    change = np.abs(level - np.asarray(net.before) * scale)
    return replace(slice_, level=level, is_balanced=True), np.asarray(net.up), change


def start_network(slice_: Slice, up: NDArray[np.float64]) -> Network:
    """Make the network of a slice; it starts with the balanced flow, and takes over the arcs."""
    arc_pair = slice_.arc_pair if slice_.arc_pair.flags.writeable else slice_.arc_pair.copy()
    net = Network(slice_.parent, slice_.gain, slice_.arc_start, arc_pair, slice_.price)
    net.start(slice_.flow, up, TOTAL)
    return net


def partition(slice_: Slice) -> tuple[list[Slice], Slice, NDArray[np.float64]]:
    """Divide a slice at several levels, if there are levels with small rims.

    Returns
    -------
    parts : list of Slice
        Empty if the slice was not divided.
    slice_ : Slice
        The slice with its flow further balanced.
    up : float64 array
        Balanced flow of each block to its parent.
    """
    n_arcs = np.diff(slice_.arc_start) + 1
    for attempt in range(ATTEMPTS):
        rounds = MORE_ROUNDS if slice_.is_balanced or attempt else FIRST_ROUNDS
        slice_, up, change = balanced(slice_, rounds)
        if len(slice_.arc_pair) < FEWEST_ARCS:
            break
        error, typical = errors(slice_.level, change, n_arcs)
        levels = choose_levels(slice_, n_arcs, typical)
        if levels:
            return divide_at(slice_, np.array(levels), error), slice_, up
    return [], slice_, up


def errors(
    level: NDArray[np.float64], change: NDArray[np.float64], n_arcs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """Estimate the relative error of each approximate level, and the one that most of them stay below."""
    change = change / np.maximum(level, 1e-300)
    order = np.argsort(change)
    share = np.cumsum(n_arcs[order])
    most = change[order[np.searchsorted(share, TYPICAL * share[-1])]]
    typical = float(np.clip(ERROR_PER_CHANGE * most, SMALLEST_ERROR, LARGEST_ERROR))
    return np.minimum(np.maximum(typical, OWN_ERROR_PER_CHANGE * change), LARGEST_ERROR), typical


def choose_levels(slice_: Slice, n_arcs: NDArray[np.int64], error: float) -> list[float]:
    """Choose levels that divide the arcs evenly, each with the smallest rim of several candidates."""
    order = np.argsort(slice_.level, kind="stable")
    level = slice_.level[order]
    below = np.concatenate([[0], np.cumsum(n_arcs[order])])  # arcs of blocks with lower levels
    total = below[-1]
    step = np.flatnonzero((level[1:] > level[:-1] * (1 + 1e-7)) & (level[:-1] > 0)) + 1
    chosen: list[float] = []
    for window in range(PARTS - 1):
        first, last = np.searchsorted(
            below[step], [(window + 0.5) / PARTS * total, (window + 1.5) / PARTS * total]
        )
        here = step[first:last]
        if len(here) > MOST_CANDIDATES:
            # The widest gaps, and others in between.
            gap = level[here] / level[here - 1]
            widest = np.argpartition(gap, -MOST_CANDIDATES // 2)[-MOST_CANDIDATES // 2 :]
            here = np.union1d(here[widest], here[:: 2 * len(here) // MOST_CANDIDATES])
        candidates = np.sqrt(level[here - 1]) * np.sqrt(level[here])
        lowest = max(slice_.low, chosen[-1] * (1 + 2.5 * error) if chosen else 0.0)
        candidates = candidates[(candidates > lowest) & (candidates < slice_.high)]
        if not candidates.size:
            continue
        inside = np.searchsorted(level, np.outer([1 - error, 1 + error], candidates))
        rim = below[inside[1]] - below[inside[0]]
        best = int(np.argmin(rim))
        if rim[best] <= LARGEST_RIM * total:
            chosen.append(float(candidates[best]))
    return chosen


def divide_at(slice_: Slice, levels: NDArray[np.float64], error: NDArray[np.float64]) -> list[Slice]:
    """Divide a slice at some levels; the rim of each is divided by a maximum flow.

    Blocks between level k - 1 and level k get the number 2 k, the rim of level k gets 2 k + 1. No block has
    a higher number than its parent.
    """
    n = len(levels)
    above = np.searchsorted(levels, slice_.level, side="right")
    bounds = np.concatenate([[0.0], levels, [np.inf]])
    part: NDArray[np.int32] = (2 * above).astype(np.int32)
    part[slice_.level > bounds[above + 1] * (1 - error)] += 1
    near = (slice_.level < bounds[above] * (1 + error)) & (part == 2 * above)
    part[near] -= 1
    limit_by_parents(slice_.parent, part)
    rims = divide(slice_, part, [(2 * k + 1, slice_.low, slice_.high) for k in range(n)])
    side: NDArray[np.int32] = (part // 2).astype(np.int32)
    for k, rim in enumerate(rims):
        side[part == 2 * k + 1] += worth_keeping(rim, levels[k])
    limit_by_parents(slice_.parent, side)
    limits = np.concatenate([[slice_.low], levels, [slice_.high]])
    parts = divide(slice_, side, [(k, limits[k], limits[k + 1]) for k in range(n + 1)])
    return [each for each in parts if each.block.size]


def worth_keeping(rim: Slice, level: float) -> NDArray[np.bool_]:
    """Find the blocks of a rim that are worth keeping at a level."""
    if not rim.block.size:
        return np.zeros(0, np.bool_)
    net = start_network(rim, np.zeros(len(rim.block)))
    blocks, pairs = np.arange(len(rim.block), dtype=np.int32), np.arange(len(rim.price), dtype=np.int32)
    route(net, blocks, pairs, level)
    return net.cut_off()
