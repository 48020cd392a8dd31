"""Kernels of the softmax."""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.utils.kernel_types import Doubles, Doubles2, OutDoubles2, Size


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
