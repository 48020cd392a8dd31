"""Kernels over the rows of nodes: order of the rows, statistics, derivatives, and first uses of sources."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        Ints,
        Ints2,
        Longs,
        OutDoubles,
        OutDoubles2,
        OutFlags,
        OutFlags2,
        OutInts,
        OutInts2,
        OutLongs,
        Size,
        int32_t,
    )


class TreeRows:
    """Trees, and the rows that reach their nodes; see `Forest` and `RoutedRows`."""

    def __init__(
        self,
        tree_start: NDArray[np.int64],
        right: NDArray[np.int32],
        order: NDArray[np.int32],
        start: NDArray[np.int32],
        stop: NDArray[np.int32],
    ) -> None:
        self.tree_start = tree_start
        self.right = right
        self.order = order
        self.start = start
        self.stop = stop


# --- Order of the rows --------------------------------------------------------------------------------------


def sort_by_leaf(
    first: Size,
    last: Size,
    tree_start: Longs,
    right: Ints,
    order: OutInts2,
    start: OutInts,
    stop: OutInts,
) -> None:
    """Sort the rows by leaf in the trees from `first` to `last`, and find the range of each node::

        order      | rows of h                            |
                   | rows of left(h)  | rows of right(h)  |

    Before, `order` has the leaf of each row; afterwards the rows, ascending within a leaf. `stop` must be 0.
    """
    n_rows: Size = order.shape[1]
    leaf: OutInts = np.empty(n_rows, dtype=np.int32)
    t: Size
    h: Size
    i: Size
    root: Size
    end: Size
    n_before: Size
    with cython.nogil:
        for t in range(first, last):
            root = tree_start[t]
            end = tree_start[t + 1]
            for i in range(n_rows):
                leaf[i] = order[t, i]
                stop[leaf[i]] += 1
            n_before = 0
            for h in range(root, end):  # in pre-order, leaves come from left to right
                start[h] = cython.cast(int32_t, n_before)
                n_before += stop[h]
                stop[h] = start[h]
            for i in range(n_rows):
                h = leaf[i]
                order[t, stop[h]] = cython.cast(int32_t, i)
                stop[h] += 1
            for h in range(end - 1, root - 1, -1):
                if right[h] >= 0:
                    stop[h] = stop[right[h]]


# --- Statistics of rows -------------------------------------------------------------------------------------


def sum_classes(
    first: Size,
    last: Size,
    rows: TreeRows,
    number: Longs,
    weight: Doubles,
    times: Ints2,
    tally: OutDoubles2,
) -> None:
    """Add up the weight of each class at each node of the trees from `first` to `last`.

    Row i counts `times[t, i]` times in tree t; if `times` is empty, once.
    """
    is_once: cython.bint = times.shape[0] == 0
    t: Size
    h: Size
    k: Size
    q: Size
    i: Size
    right: Ints = rows.right
    order: Ints2 = rows.order
    with cython.nogil:
        for t in range(first, last):
            for h in range(rows.tree_start[t + 1] - 1, rows.tree_start[t] - 1, -1):  # children first
                if right[h] >= 0:
                    for k in range(tally.shape[1]):
                        tally[h, k] = tally[h + 1, k] + tally[right[h], k]
                    continue
                for q in range(rows.start[h], rows.stop[h]):
                    i = order[t, q]
                    tally[h, number[i]] += weight[i] if is_once else weight[i] * times[t, i]


def sum_moments(
    first: Size,
    last: Size,
    rows: TreeRows,
    target: Doubles,
    weight: Doubles,
    times: Ints2,
    tally: OutDoubles2,
) -> None:
    """Find weight, mean and scatter (weighted sum of squares around the mean) at each node of some trees.

    The other parameters are those of `sum_classes`.
    """
    is_once: cython.bint = times.shape[0] == 0
    t: Size
    h: Size
    q: Size
    i: Size
    r: Size
    w: cython.double
    m: cython.double
    s: cython.double
    right: Ints = rows.right
    order: Ints2 = rows.order
    with cython.nogil:
        for t in range(first, last):
            for h in range(rows.tree_start[t + 1] - 1, rows.tree_start[t] - 1, -1):
                if right[h] >= 0:
                    r = right[h]
                    w, m, s = tally[h + 1, 0], tally[h + 1, 1], tally[h + 1, 2]
                    w, m, s = merged(w, m, s, tally[r, 0], tally[r, 1], tally[r, 2])
                else:
                    w = m = s = 0.0
                    for q in range(rows.start[h], rows.stop[h]):
                        i = order[t, q]
                        w, m, s = merged(
                            w, m, s, weight[i] if is_once else weight[i] * times[t, i], target[i], 0.0
                        )
                tally[h, 0], tally[h, 1], tally[h, 2] = w, m, s


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def merged(
    weight: cython.double,
    mean: cython.double,
    scatter: cython.double,
    more_weight: cython.double,
    more_mean: cython.double,
    more_scatter: cython.double,
) -> tuple[cython.double, cython.double, cython.double]:
    """Weight, mean and scatter of two groups of rows together.

    Squares are taken around means, never around zero: targets may be large and differ little.
    """
    if not more_weight > 0:
        return weight, mean, scatter
    both: cython.double = weight + more_weight
    step: cython.double = more_mean - mean
    return (
        both,
        mean + step * (more_weight / both),
        scatter + (more_scatter + step * step * (weight * more_weight / both)),
    )


# --- Rounds of boosted trees --------------------------------------------------------------------------------


def sum_derivatives(
    first: Size,
    last: Size,
    rows: TreeRows,
    tree_output: Ints,
    gradient: Doubles2,
    curvature: Doubles2,
    gradient_sum: OutDoubles2,
    curvature_sum: OutDoubles2,
) -> None:
    """Add up the derivatives by each output at each node of the trees from `first` to `last`.

    A tree that feeds one output uses the first column of the sums.
    """
    t: Size
    k: Size
    c: Size
    h: Size
    q: Size
    i: Size
    right: Ints = rows.right
    order: Ints2 = rows.order
    with cython.nogil:
        for t in range(first, last):
            for k in range(gradient.shape[0]):
                if tree_output[t] >= 0 and tree_output[t] != k:
                    continue
                c = k if tree_output[t] < 0 else 0
                for h in range(rows.tree_start[t + 1] - 1, rows.tree_start[t] - 1, -1):
                    if right[h] >= 0:
                        gradient_sum[h, c] = gradient_sum[h + 1, c] + gradient_sum[right[h], c]
                        curvature_sum[h, c] = curvature_sum[h + 1, c] + curvature_sum[right[h], c]
                        continue
                    for q in range(rows.start[h], rows.stop[h]):
                        i = order[t, q]
                        gradient_sum[h, c] += gradient[k, i]
                        curvature_sum[h, c] += curvature[k, i]


def add_scores(
    k: Size, first: Size, last: Size, rows: TreeRows, tree_output: Ints, value: Doubles2, total: OutDoubles2
) -> None:
    """Add output `k` of the trees from `first` to `last` to the rows' scores: `total` has a row for each."""
    t: Size
    c: Size
    h: Size
    q: Size
    order: Ints2 = rows.order
    with cython.nogil:
        for t in range(first, last):
            if tree_output[t] >= 0 and tree_output[t] != k:
                continue
            c = k if tree_output[t] < 0 else 0
            for h in range(rows.tree_start[t], rows.tree_start[t + 1]):
                if rows.right[h] < 0:
                    for q in range(rows.start[h], rows.stop[h]):
                        total[k, order[t, q]] += value[h, c]


def sums_below(right: Ints, amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up an amount over the subtree of each node."""
    sums = amount.copy()
    total: OutDoubles = sums
    h: Size
    for h in range(right.shape[0] - 1, -1, -1):
        if right[h] >= 0:
            total[h] += total[h + 1] + total[right[h]]
    return sums


# --- First uses of sources ----------------------------------------------------------------------------------


def mark_first(
    first: Size,
    last: Size,
    tree_start: Longs,
    right: Ints,
    candidate_start: Longs,
    source: Ints,
    price: Doubles,
    is_first: OutFlags,
) -> None:
    """Mark the candidates whose source no split above needs, in the trees from `first` to `last`.

    In pre-order a subtree is a range, so one number per source says where it is paid for already: up to the
    end of the subtree of the split that needed it last.
    """
    subtree_end: OutLongs = np.empty(tree_start[last] - tree_start[first], dtype=np.int64)
    paid_until: OutLongs = np.zeros(price.shape[0], dtype=np.int64)
    begin: Size = tree_start[first]
    t: Size
    h: Size
    c: Size
    s: Size
    with cython.nogil:
        for t in range(first, last):
            subtree_end[tree_start[t] - begin] = tree_start[t + 1]
            for h in range(tree_start[t], tree_start[t + 1]):
                if right[h] < 0:
                    continue
                subtree_end[h + 1 - begin] = right[h]
                subtree_end[right[h] - begin] = subtree_end[h - begin]
                for c in range(candidate_start[h], candidate_start[h + 1]):
                    s = source[c]
                    is_first[c] = 1 if price[s] > 0 and paid_until[s] <= h else 0
                    if is_first[c]:
                        paid_until[s] = subtree_end[h - begin]


def acquire(
    first: Size,
    last: Size,
    keep: Flags,
    order: Ints2,
    start: Ints,
    stop: Ints,
    node: Ints,
    source: Ints,
    use_tree_start: Longs,
    acquired: OutFlags2,
) -> None:
    """Mark what the rows acquire for the kept splits of the trees from `first` to `last`."""
    t: Size
    k: Size
    h: Size
    q: Size
    s: Size
    with cython.nogil:
        for t in range(first, last):
            for k in range(use_tree_start[t], use_tree_start[t + 1]):
                h = node[k]
                s = source[k]
                if keep[h]:
                    for q in range(start[h], stop[h]):
                        acquired[order[t, q], s] = 1
