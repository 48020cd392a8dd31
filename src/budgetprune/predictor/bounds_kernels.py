"""Kernels for bounds: of leaf values below nodes, and of probabilities."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import ceil, exp, floor, log
else:
    from math import ceil, exp, floor, log

    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        Ints,
        OutDoubles,
        OutDoubles2,
        OutInts,
        OutInts2,
        Size,
        int32_t,
        int64_t,
    )
    from budgetprune.utils.special_kernels import logistic

TINY = cython.declare(cython.double, 2.0**-1022)  # smallest normal number


def distinct_bounds(
    right: Ints, is_split: Flags, value: Doubles2
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Compute the lowest and the highest leaf value below each node of trees in pre-order, by direction.

    Where leaves are pure, few bounds are distinct, and those stay in the cache of the processor.

    Returns
    -------
    number : of each node, index of its bounds
    bounds : distinct bounds, rounded outwards, of shape (n_bounds, 2, n_columns)
    """
    n_nodes: Size = value.shape[0]
    n_columns: Size = value.shape[1]
    numbers = np.empty(n_nodes, dtype=np.int32)
    rows = np.empty((n_nodes, 2 * n_columns), dtype=np.int32)
    number: OutInts = numbers
    bounds: OutInts2 = rows
    # A hash table with at least two slots for each node: the number of the bounds in a slot, or -1.
    n_slots: Size = 2
    while n_slots < 2 * n_nodes:
        n_slots *= 2
    slots: OutInts = np.full(n_slots, -1, dtype=np.int32)
    n_found: Size = 0
    h: Size
    d: Size
    for h in range(n_nodes - 1, -1, -1):  # children come after their parents
        for d in range(n_columns):
            if is_split[h]:
                bounds[n_found, d] = min(bounds[number[h + 1], d], bounds[number[right[h]], d])
                bounds[n_found, n_columns + d] = max(
                    bounds[number[h + 1], n_columns + d], bounds[number[right[h]], n_columns + d]
                )
            else:
                bounds[n_found, d] = cython.cast(int32_t, floor(value[h, d]))
                bounds[n_found, n_columns + d] = cython.cast(int32_t, ceil(value[h, d]))
        slot: Size = find_slot(bounds, n_found, slots)
        if slots[slot] < 0:
            slots[slot] = cython.cast(int32_t, n_found)
            n_found += 1
        number[h] = slots[slot]
    return numbers, rows[:n_found].reshape(n_found, 2, n_columns)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def find_slot(bounds: OutInts2, row: Size, slots: OutInts) -> Size:
    """Find the slot of bounds that equal those in a row, or an empty one."""
    d: Size
    width: Size = bounds.shape[1]
    hashed: int64_t = 0
    for d in range(width):
        entry: int64_t = bounds[row, d]
        # No product exceeds 64 bits. Its lowest bits depend only on the lowest bits of its factors.
        hashed = (((hashed ^ (cython.cast(int64_t, entry) & 0x7FFFFFFF)) * 0x9E3779B1) >> 16) & 0x7FFFFFFF
    slot: Size = hashed & (slots.shape[0] - 1)
    while slots[slot] >= 0:
        d = 0
        while d < width and bounds[slots[slot], d] == bounds[row, d]:
            d += 1
        if d == width:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


# --- Arrays with an entry per class: too short for numpy, whose call overhead would dominate ----------------


class Shares:
    """Averages of shares, and bounds of the final ones, from sums over trees and their bounds.

    Parameters
    ----------
    guard : bound of the rounding error of a sum
    divisor : of the sums
    """

    def __init__(self, guard: float, divisor: float) -> None:
        self.guard = guard
        self.divisor = divisor

    def between_bounds(
        self, scores: Doubles, bounds: Doubles2, is_complete: cython.bint
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return averages, clipped to [0, 1], and bounds that include them; equal ones if `is_complete`."""
        found = np.empty((3, scores.shape[0]))
        share: OutDoubles2 = found
        k: Size
        for k in range(scores.shape[0]):
            share[0, k] = share[1, k] = share[2, k] = scores[k] / self.divisor
            if not is_complete:
                share[1, k] = max((bounds[0, k] - self.guard) / self.divisor, 0.0)
                share[2, k] = min((bounds[1, k] + self.guard) / self.divisor, 1.0)
        move_between(share)
        return found[0], found[1], found[2]


class ScorePair:
    """Two scores whose weighted sum is the only direction.

    Parameters
    ----------
    first, second : weights of the scores
    least_sum, most_sum : bounds of the sum of the scores, which is constant except for rounding
    """

    def __init__(self, first: float, second: float, least_sum: float, most_sum: float) -> None:
        self.first = first
        self.second = second
        self.least_sum = least_sum
        self.most_sum = most_sum

    def separate(self, bounds: Doubles2) -> NDArray[np.float64]:
        """Return bounds of both scores from those of the direction."""
        found = np.empty((2, 2))
        pair: OutDoubles2 = found
        least: cython.double = bounds[0, 0]
        most: cython.double = bounds[1, 0]
        factor: cython.double = 1 / (self.second - self.first)
        pair[0, 0] = factor * (self.second * self.least_sum - most)
        pair[0, 1] = factor * (least - self.first * self.least_sum)
        pair[1, 0] = factor * (self.second * self.most_sum - least)
        pair[1, 1] = factor * (most - self.first * self.most_sum)
        return found


def softmax_bounds(own: Doubles, others: Doubles) -> NDArray[np.float64]:
    """Compute the probability of each class from its `own` score and the scores of the `others`."""
    probability = np.ones(own.shape[0])
    found: OutDoubles = probability
    k: Size
    j: Size
    for k in range(own.shape[0] if own.shape[0] > 1 else 0):
        highest: cython.double = others[1 if k == 0 else 0]
        total: cython.double = 0.0
        for j in range(own.shape[0]):
            if j != k:
                highest = max(highest, others[j])
        for j in range(own.shape[0]):
            if j != k:
                total += exp(others[j] - highest)
        found[k] = logistic(own[k] - (highest + log(total)))
    return probability


def between(guess: Doubles, lower: Doubles, upper: Doubles) -> NDArray[np.float64]:
    """Move probabilities into their bounds; they still add up to 1."""
    found = np.array([guess, lower, upper])
    move_between(found)
    moved: NDArray[np.float64] = found[0]
    return moved


@cython.cfunc
@cython.exceptval(check=False)
def move_between(found: OutDoubles2) -> cython.void:
    """Move the first row between the two others, and keep its sum."""
    k: Size
    lacking: cython.double = 0.0
    total: cython.double = 0.0
    kept: cython.double = 0.0
    room: cython.double = 0.0
    for k in range(found.shape[1]):
        total += found[0, k]
        found[0, k] = min(max(found[0, k], found[1, k]), found[2, k])
        kept += found[0, k]
    lacking = total - kept
    if lacking == 0:
        return
    for k in range(found.shape[1]):
        room += room_of(found, k, lacking)
    for k in range(found.shape[1]):
        found[0, k] += lacking * room_of(found, k, lacking) / max(room, TINY)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def room_of(found: OutDoubles2, k: Size, lacking: cython.double) -> cython.double:
    """Return how far an entry of the first row can move towards the bound on the side that is lacking."""
    return found[2, k] - found[0, k] if lacking > 0 else found[0, k] - found[1, k]
