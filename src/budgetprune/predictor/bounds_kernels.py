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
        OutInts3,
        Size,
        int32_t,
    )
    from budgetprune.utils.special_kernels import logistic

TINY = cython.declare(cython.double, 2.0**-1022)  # smallest normal number


def bounds_below(right: Ints, is_split: Flags, value: Doubles2) -> NDArray[np.int32]:
    """Compute the lowest and the highest leaf value below each node of trees in pre-order, by direction."""
    found = np.empty((value.shape[0], 2, value.shape[1]), dtype=np.int32)
    bounds: OutInts3 = found
    h: Size
    d: Size
    for h in range(value.shape[0] - 1, -1, -1):  # children come after their parents
        for d in range(value.shape[1]):
            if is_split[h]:
                bounds[h, 0, d] = min(bounds[h + 1, 0, d], bounds[right[h], 0, d])
                bounds[h, 1, d] = max(bounds[h + 1, 1, d], bounds[right[h], 1, d])
            else:
                bounds[h, 0, d] = cython.cast(int32_t, floor(value[h, d]))
                bounds[h, 1, d] = cython.cast(int32_t, ceil(value[h, d]))
    return found


# --- Arrays with an entry per class: too short for numpy, whose call overhead would dominate ----------------


def fill_score_pair(
    bounds: Doubles2,
    first: cython.double,
    second: cython.double,
    least_sum: cython.double,
    most_sum: cython.double,
    found: OutDoubles2,
) -> None:
    """Compute bounds of two scores from bounds of their weighted sum; see `ScorePair`."""
    least: cython.double = bounds[0, 0]
    most: cython.double = bounds[1, 0]
    factor: cython.double = 1 / (second - first)
    found[0, 0] = factor * (second * least_sum - most)
    found[0, 1] = factor * (least - first * least_sum)
    found[1, 0] = factor * (second * most_sum - least)
    found[1, 1] = factor * (most - first * most_sum)


def fill_shares(
    scores: Doubles,
    bounds: Doubles2,
    is_complete: cython.bint,
    guard: cython.double,
    divisor: cython.double,
    found: OutDoubles2,
) -> None:
    """Compute averages, clipped to [0, 1], and their bounds, from sums and their bounds."""
    k: Size
    for k in range(scores.shape[0]):
        found[0, k] = found[1, k] = found[2, k] = scores[k] / divisor
        if not is_complete:
            found[1, k] = max((bounds[0, k] - guard) / divisor, 0.0)
            found[2, k] = min((bounds[1, k] + guard) / divisor, 1.0)
    move_between(found)


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
