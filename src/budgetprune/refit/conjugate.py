"""Conjugate gradients, and sums over long arrays that are the same on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit, prange

Array = NDArray[np.float64]

# Entries summed by one thread at a time; the order of summation depends on nothing else.
CHUNK = 4096
MAX_ROUNDS = 200
# A direction is flat if the curvature of A along it is below this share of that of its diagonal alone. The
# curvature is a sum over rows and trees, so that less than this is rounding error.
FLAT = 1e-13
# Conjugate gradients may let the residual grow for a while, but not without limit. Beyond this multiple of
# the first one (both squared), rounding has destroyed the conjugacy of the directions.
DIVERGED = 1e8


def dot(a: Array, b: Array) -> float:
    """Inner product of two arrays of one shape. (BLAS adds in an order that depends on its threads.)"""
    return float(dot_by_chunk(a.reshape(-1), b.reshape(-1)).sum())


def length(a: Array) -> float:
    """Euclidean length of an array."""
    return float(np.sqrt(dot(a, a)))


def conjugate_gradients(
    multiply: Callable[[Array, Array], None], right: Array, scale: Array, accuracy: float
) -> Array:
    """Solve ``A x = right`` to a residual of `accuracy` times the right side, for a positive semidefinite A.

    Every iterate, started from 0, is a descent direction, so any number of rounds gives a useful step.
    Directions that are flat to rounding (a singular A) end the search, and so does a residual that diverges:
    the result is finite whenever the input is.

    Parameters
    ----------
    multiply : callable ``multiply(x, out)`` that writes A x into `out`
    right : array of any shape
    scale : diagonal of A, positive
    """
    x = np.zeros_like(right)
    residual, inverse = right.copy(), 1.0 / scale
    direction, image = inverse * residual, np.empty_like(right)
    flat = x.reshape(-1), residual.reshape(-1), direction.reshape(-1), image.reshape(-1), inverse.reshape(-1)
    goal = accuracy**2 * dot(right, right)
    first = weighted_residual = dot(residual, direction)
    for n_rounds in range(MAX_ROUNDS):
        multiply(direction, image)
        curvature = dot(direction, image)
        if not curvature > FLAT * dot(direction, scale * direction):
            return x if n_rounds else direction
        square, new_residual = take_step(*flat, weighted_residual / curvature).sum(axis=0)
        if square <= goal or not new_residual <= DIVERGED * first:
            break
        next_direction(*flat, new_residual / weighted_residual)
        weighted_residual = new_residual
    return x


# Chunks are added up outside of the kernels: inside, numba would divide this sum among the threads too.
@njit(cache=True, parallel=True, fastmath={"reassoc"})
def dot_by_chunk(a: Array, b: Array) -> Array:
    """Inner product, one part for each chunk."""
    part = np.empty((a.size + CHUNK - 1) // CHUNK)
    for chunk in prange(part.size):
        total = 0.0
        for j in range(chunk * CHUNK, min(a.size, (chunk + 1) * CHUNK)):
            total += a[j] * b[j]
        part[chunk] = total
    return part


@njit(cache=True, parallel=True, fastmath={"reassoc"})
def take_step(
    x: Array, residual: Array, direction: Array, image: Array, inverse: Array, length: float
) -> Array:
    """Take a step; return the squared norms of the residual after it, without and with preconditioning."""
    part = np.empty(((x.size + CHUNK - 1) // CHUNK, 2))
    for chunk in prange(len(part)):
        square, weighted_residual = 0.0, 0.0
        for j in range(chunk * CHUNK, min(x.size, (chunk + 1) * CHUNK)):
            x[j] += length * direction[j]
            left = residual[j] - length * image[j]
            residual[j] = left
            square += left * left
            weighted_residual += left * left * inverse[j]
        part[chunk, 0] = square
        part[chunk, 1] = weighted_residual
    return part


@njit(cache=True, parallel=True)
def next_direction(
    x: Array, residual: Array, direction: Array, image: Array, inverse: Array, ratio: float
) -> None:
    """Compute the next direction."""
    for j in prange(x.size):
        direction[j] = inverse[j] * residual[j] + ratio * direction[j]
