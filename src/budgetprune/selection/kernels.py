"""Kernels of the choice of a model: scores of nested prunings."""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.utils.kernel_types import Doubles, Doubles2, Ints, Ints2, Longs, OutDoubles3, Size


def sum_nested_prunings(
    first: Size,
    last: Size,
    stop: Ints2,
    parent: Ints,
    until: Longs,
    value: Doubles2,
    tree_output: Ints,
    base: Doubles,
    scores: OutDoubles3,
) -> None:
    """Sum the trees for nested prunings, in the order of the trees, for the rows from `first` to `last`.

    Split h stays in the first `until[h]` prunings. On the way of a row from its leaf to the root, each node
    gives the tree's value for the prunings from its own `until` to that of its parent::

        leaf    0 |--- leaf ---|                                       until = 0
        inner h                |--- h ---|                             until[h]
        root                             |--- root ---| n_points       until[root]
    """
    n_points: Size = scores.shape[0]
    i: Size
    j: Size
    k: Size
    t: Size
    h: Size
    above: Size
    begin: Size
    end: Size
    with cython.nogil:
        for i in range(first, last):
            for j in range(n_points):
                for k in range(base.shape[0]):
                    scores[j, i, k] = base[k]
            for t in range(stop.shape[0]):
                h = stop[t, i]
                begin = 0
                while begin < n_points:
                    above = parent[h]
                    end = n_points if above < 0 else until[above]
                    for j in range(begin, end):
                        if tree_output[t] >= 0:
                            scores[j, i, tree_output[t]] += value[h, 0]
                        else:
                            for k in range(base.shape[0]):
                                scores[j, i, k] += value[h, k]
                    begin = end
                    h = above
