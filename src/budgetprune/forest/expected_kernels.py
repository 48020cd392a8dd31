"""Kernel that averages the values of trees over unknown features."""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from budgetprune.forest.kernels import Trees, goes_left
    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        Ints,
        OutDoubles,
        OutDoubles2,
        OutLongs,
        Size,
    )


def add_expected(
    rows: Doubles2,
    known: Flags,
    trees: Trees,
    feature: Ints,
    right: Ints,
    weight: Doubles,
    value: Doubles2,
    tree_output: Ints,
    scores: OutDoubles2,
    deviation: OutDoubles2,
) -> None:
    """Add the mean and the standard deviation of each tree; see `expected_values`."""
    longest: Size = 0
    t: Size
    for t in range(trees.n_trees):
        longest = max(longest, trees.tree_start[t + 1] - trees.tree_start[t])
    waiting: OutLongs = np.empty(longest, np.int64)
    share: OutDoubles = np.empty(longest)
    mean: OutDoubles = np.empty(scores.shape[1])
    square: OutDoubles = np.empty(scores.shape[1])
    i: Size
    c: Size
    h: Size
    with cython.nogil:
        for i in range(rows.shape[0]):
            for t in range(trees.n_trees):
                for c in range(scores.shape[1]):
                    mean[c] = 0.0
                    square[c] = 0.0
                waiting[0] = trees.tree_start[t]
                share[0] = 1.0
                n_waiting: Size = 1
                while n_waiting > 0:
                    n_waiting -= 1
                    h = waiting[n_waiting]
                    part: cython.double = share[n_waiting]
                    k: Size = feature[h]
                    if k < 0:
                        add_leaf(value, h, part, tree_output[t], mean, square)
                    elif known[k]:
                        waiting[n_waiting] = h + 1 if goes_left(rows[i, k], h, trees) else right[h]
                        n_waiting += 1
                    else:
                        # Smoothed training weights, so that no side has probability 0.
                        portion: cython.double = (weight[h + 1] + 1) / (weight[h + 1] + weight[right[h]] + 2)
                        waiting[n_waiting] = right[h]
                        share[n_waiting] = part * (1 - portion)
                        waiting[n_waiting + 1] = h + 1
                        share[n_waiting + 1] = part * portion
                        n_waiting += 2
                for c in range(scores.shape[1]):
                    scores[i, c] += mean[c]
                    deviation[i, c] += sqrt(max(square[c] - mean[c] * mean[c], 0.0))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_leaf(
    value: Doubles2, h: Size, part: cython.double, output: Size, mean: OutDoubles, square: OutDoubles
) -> cython.void:
    """Add the value of a leaf and its square; `output` -1 means all outputs."""
    c: Size
    if output >= 0:
        mean[output] += part * value[h, 0]
        square[output] += part * (value[h, 0] * value[h, 0])
    else:
        for c in range(mean.shape[0]):
            mean[c] += part * value[h, c]
            square[c] += part * (value[h, c] * value[h, c])
