"""Kernels of the primal-dual solver over trees: each tree is pruned on its own, given its payments."""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import exp, fabs, log1p
else:
    from math import exp, fabs, log1p

    from budgetprune.utils.kernel_types import Doubles, Ints, Longs, OutDoubles, OutFlags, Size


def prune_trees(
    tree_start: Longs,
    first: Size,
    last: Size,
    parent: Ints,
    right: Ints,
    error: Doubles,
    charge: Doubles,
    temperature: Doubles,
    value: OutDoubles,
    keep: OutFlags,
    probability: OutDoubles,
) -> None:
    """Prune the trees from `first` to `last` one by one: V, the kept splits, and each split's probability.

    The paper's shortest path is the recursion ``V(h) = min(error[h], charge[h] + V(left) + V(right))``. With
    soft minima, a split is kept with a probability that depends smoothly on the charges: the derivative of
    the soft V(root) by ``charge[h]``.
    """
    start: Size = tree_start[first]
    stop: Size = tree_start[last]
    soft: OutDoubles = np.empty(stop - start)
    h: Size
    with cython.nogil:
        for h in range(stop - 1, start - 1, -1):  # pre-order backwards: children first
            value[h] = soft[h - start] = error[h]
            keep[h] = False
            probability[h] = 0.0
            if right[h] < 0:
                continue
            split: cython.double = charge[h] + value[h + 1] + value[right[h]]
            if split < error[h]:
                value[h] = split
                keep[h] = True
            if temperature[h] > 0:
                soft_split: cython.double = charge[h] + soft[h + 1 - start] + soft[right[h] - start]
                # Of the worse choice.
                odds: cython.double = exp(-fabs(error[h] - soft_split) / temperature[h])
                probability[h] = (1.0 if soft_split < error[h] else odds) / (1.0 + odds)
                soft[h - start] = min(error[h], soft_split) - temperature[h] * log1p(odds)
            else:
                # Without a possible gain, no split is kept, however soft the minima below it are.
                soft[h - start] = value[h]
                probability[h] = 1.0 if keep[h] else 0.0
        for h in range(start, stop):
            if parent[h] >= 0:
                keep[h] = keep[h] and keep[parent[h]]
                probability[h] *= probability[parent[h]]
