"""Kernels of the logistic function and of the softmax."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from budgetprune.utils.kernel_types import Doubles, Doubles2, OutDoubles, OutDoubles2, Size

# The exponential function of larger numbers is infinite.
LARGEST_EXPONENT = cython.declare(cython.double, 709.782712893384)


def fill_expit(x: Doubles, probability: OutDoubles) -> None:
    """Fill in the logistic function of each number."""
    i: Size
    with cython.nogil:
        for i in range(x.shape[0]):
            probability[i] = logistic(x[i])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def logistic(x: cython.double) -> cython.double:
    return 0.0 if -x > LARGEST_EXPONENT else 1.0 / (1.0 + exp(-x))


def multiply_softmax(
    first: Size, last: Size, along: OutDoubles2, probability: Doubles2, weight: Doubles
) -> None:
    """Multiply the rows from `first` to `last` by the weighted second derivatives of a softmax, in place.

    They couple a row's outputs.
    """
    i: Size
    k: Size
    mean: cython.double
    with cython.nogil:
        for i in range(first, last):
            mean = 0.0
            for k in range(along.shape[1]):
                mean += probability[i, k] * along[i, k]
            for k in range(along.shape[1]):
                along[i, k] = weight[i] * probability[i, k] * (along[i, k] - mean)
