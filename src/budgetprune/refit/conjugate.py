"""Conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetprune.refit import kernels

Array = NDArray[np.float64]

MAX_ROUNDS = 200
# A direction is flat if the curvature of A along it is below this share of that of its diagonal alone. The
# curvature is a sum over rows and trees, so that less than this is rounding error.
FLAT = 1e-13
# Conjugate gradients may let the residual grow for a while, but not without limit. Beyond this multiple of
# the first one (both squared), rounding has destroyed the conjugacy of the directions.
DIVERGED = 1e8


def dot(a: Array, b: Array) -> float:
    """Inner product of two arrays of one shape. (BLAS adds in an order that depends on its threads.)"""
    return kernels.dot(a.reshape(-1), b.reshape(-1))


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
    arrays = x, residual, direction, image, inverse
    flat_x, flat_residual, flat_direction, flat_image, flat_inverse = (each.reshape(-1) for each in arrays)
    goal = accuracy**2 * dot(right, right)
    first = weighted_residual = dot(residual, direction)
    for n_rounds in range(MAX_ROUNDS):
        multiply(direction, image)
        curvature = dot(direction, image)
        if not curvature > FLAT * dot(direction, scale * direction):
            return x if n_rounds else direction
        square, new_residual = kernels.take_step(
            flat_x, flat_residual, flat_direction, flat_image, flat_inverse, weighted_residual / curvature
        )
        if square <= goal or not new_residual <= DIVERGED * first:
            break
        kernels.next_direction(flat_residual, flat_direction, flat_inverse, new_residual / weighted_residual)
        weighted_residual = new_residual
    return x
