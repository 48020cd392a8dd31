"""Potentials of uses: integers whose powers of two are the weights by which uses share a price."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# The weight doubles with every so many steps of the potential.
STEPS_PER_DOUBLING = 2**12
# Smallest weight, as a power of two below the largest: a sum of weights must not vanish.
MOST_DOUBLINGS = 865
# Usage is rounded up to multiples of 1 / N_LEVELS, which fit in a byte.
N_LEVELS = 255
# Increase of the logarithm of a weight in one iteration if its split is kept with probability 1, before any
# stall.
STEP = 3.0


def fractional_powers() -> NDArray[np.float64]:
    """Return the powers of two with exponents 0, 1 / STEPS_PER_DOUBLING, ... below 1.

    Libraries of different machines may round them differently, so that one machine computes them for all.
    """
    return np.exp2(np.arange(STEPS_PER_DOUBLING) / STEPS_PER_DOUBLING)


def weights(potential: NDArray[np.int32], powers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``2 ** (potential / STEPS_PER_DOUBLING)``, up to a common factor, and never too small.

    Multiplications by powers of two are exact, so the result is the same on every machine.
    """
    largest = int(potential.max(initial=0))
    below = np.maximum(potential.astype(np.int64) - largest, -MOST_DOUBLINGS * STEPS_PER_DOUBLING)
    weight: NDArray[np.float64] = np.ldexp(powers[below % STEPS_PER_DOUBLING], below // STEPS_PER_DOUBLING)
    return weight


def step_length(n_stalls: int) -> int:
    """Steps of the potential in one iteration for each level of usage; the sum over stalls has no limit."""
    return max(1, round(STEP * STEPS_PER_DOUBLING / math.log(2) / N_LEVELS / (1 + n_stalls)))


def levels(usage: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Round usage up to a level. The splits of at least a certain level are a pruning."""
    return np.ceil(N_LEVELS * usage).astype(np.uint8)
