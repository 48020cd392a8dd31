"""Kernels of bounds and costs: over the trees, and over the pairs of a source and a row, by source.

Trees add to the same pairs, and the order of additions changes the last bits. So no two threads work on one
source, or on one tree.
"""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import (
        Doubles,
        Ints,
        Longs,
        OutDoubles,
        OutInts,
        Size,
        int32_t,
    )


class UsesBySource:
    """First uses, sorted by source, and the arrays that give their rows.

    Source `s` is needed by the uses ``by_source[source_start[s]:source_start[s + 1]]``. Use `k` has the
    incidences from ``use_start[k]`` to ``use_start[k + 1]``, and incidence `a` of it is by the row
    ``rows[shift_of_rows(uses, k) + a]``.
    """

    def __init__(
        self,
        by_source: NDArray[np.int64],
        source_start: NDArray[np.int64],
        order: NDArray[np.int32],
        row_start: NDArray[np.int32],
        tree_of_node: NDArray[np.int32],
        use_node: NDArray[np.int32],
        use_start: NDArray[np.int64],
    ) -> None:
        self.by_source = by_source
        self.source_start = source_start
        self.rows = order.ravel()
        self.n_rows = order.shape[1]
        self.row_start = row_start
        self.tree_of_node = tree_of_node
        self.use_node = use_node
        self.use_start = use_start


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shift_of_rows(uses: UsesBySource, k: Size) -> Size:
    """Difference between the numbers of an incidence of use `k` and of its entry in ``uses.rows``."""
    h: Size = uses.use_node[k]
    tree: Size = uses.tree_of_node[h]
    shift: Size = tree * uses.n_rows + uses.row_start[h] - uses.use_start[k]
    return shift


# --- Trees --------------------------------------------------------------------------------------------------


def sum_uses(
    first: Size,
    last: Size,
    use_tree_start: Longs,
    use_node: Ints,
    use_start: Longs,
    beta: Doubles,
    paid: OutDoubles,
) -> None:
    """Add up beta over the incidences of each node, in the trees from `first` to `last`."""
    k: Size
    h: Size
    a: Size
    with cython.nogil:
        for k in range(use_tree_start[first], use_tree_start[last]):
            h = use_node[k]
            for a in range(use_start[k], use_start[k + 1]):
                paid[h] += beta[a]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def tree_value(
    root: Size, end: Size, right: Ints, error: Doubles, charge: Doubles, value: OutDoubles
) -> cython.double:
    """Find the best pruning of one tree that pays for its splits: its "shortest path", by recursion.

    ``V(h) = min(error[h], charge[h] + V(left) + V(right))``, written to `value`.
    """
    h: Size
    for h in range(end - 1, root - 1, -1):
        value[h] = error[h]
        if right[h] >= 0:
            value[h] = min(error[h], charge[h] + value[h + 1] + value[right[h]])
    return value[root]


def tree_values(
    first: Size,
    last: Size,
    tree_start: Longs,
    right: Ints,
    error: Doubles,
    charge: Doubles,
    values: OutDoubles,
) -> None:
    """Fill in V(root) of the trees from `first` to `last`."""
    value: OutDoubles = np.empty(error.shape[0])
    t: Size
    with cython.nogil:
        for t in range(first, last):
            values[t] = tree_value(tree_start[t], tree_start[t + 1], right, error, charge, value)


def add_tree_values(
    t: Size,
    lams: Doubles,
    tree_start: Longs,
    right: Ints,
    error: Doubles,
    computation: Doubles,
    paid: Doubles,
    per_lam: Doubles,
    values: OutDoubles,
) -> None:
    """Add V(root) of tree `t` for each lambda, where node h pays ``min(paid, lam * per_lam)``."""
    root: Size = tree_start[t]
    end: Size = tree_start[t + 1]
    charge: OutDoubles = np.empty(error.shape[0])
    value: OutDoubles = np.empty(error.shape[0])
    p: Size
    h: Size
    with cython.nogil:
        for p in range(lams.shape[0]):
            for h in range(root, end):
                charge[h] = lams[p] * computation[h] + min(paid[h], lams[p] * per_lam[h])
            values[p] += tree_value(root, end, right, error, charge, value)


# --- Pairs of a source and a row ----------------------------------------------------------------------------


def overpaid(s: Size, beta: Doubles, price: cython.double, row_weight: Doubles, uses: UsesBySource) -> float:
    """Excess of the trees' payments over the price of source `s`, summed over rows: at most 0."""
    left: OutDoubles = np.empty(row_weight.shape[0])  # unpaid part of each row's price
    rows: Ints = uses.rows
    total: cython.double = 0.0
    i: Size
    j: Size
    k: Size
    a: Size
    shift: Size
    with cython.nogil:
        for i in range(left.shape[0]):
            left[i] = price * row_weight[i]
        for j in range(uses.source_start[s], uses.source_start[s + 1]):
            k = uses.by_source[j]
            shift = shift_of_rows(uses, k)
            for a in range(uses.use_start[k], uses.use_start[k + 1]):
                left[rows[shift + a]] -= beta[a]
        for i in range(left.shape[0]):
            total += min(left[i], 0.0)
    return float(total)


def add_overpaid(
    s: Size,
    lams: Doubles,
    flow: Doubles,
    level: Doubles,
    level_point: Longs,
    price: cython.double,
    row_weight: Doubles,
    uses: UsesBySource,
    slope: OutDoubles,
    rest: OutDoubles,
) -> int:
    """Add the overpayment for source `s`; return a row whose payers differ in level, or -1.

    A pair of price c whose payers give f at level d is overpaid where lam * c < f * min(1, lam / d)::

        overpaid |      /\\
            |    /    \\          slope f / d - c up to d, then -c;
            |  /        \\        nothing anywhere if f / d <= c
            |/____________\\____ lam
                   d     f / c
    """
    paid: OutDoubles = np.zeros(row_weight.shape[0])
    payer: OutInts = np.full(row_weight.shape[0], -1, dtype=np.int32)
    mixed: Size
    past: Size
    i: Size
    p: Size
    with cython.nogil:
        mixed = sum_payments(s, flow, level, uses, paid, payer)
        for i in range(paid.shape[0]):
            if payer[i] < 0:
                continue
            own: cython.double = price * row_weight[i]
            excess: cython.double = paid[i] / level[payer[i]] - own
            if excess > 0:
                past = level_point[payer[i]]  # lams[:past] <= level
                slope[past] += excess
                for p in range(past, lams.shape[0]):
                    left: cython.double = lams[p] * own - paid[i]
                    if left >= 0:
                        break
                    rest[p] += left
    return mixed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sum_payments(
    s: Size, flow: Doubles, level: Doubles, uses: UsesBySource, paid: OutDoubles, payer: OutInts
) -> Size:
    """Sum each row's payments for source `s`, and find a node that pays: it has the pair's level.

    Return a row whose payers differ in level, or -1.
    """
    rows: Ints = uses.rows
    i: Size
    j: Size
    k: Size
    a: Size
    for j in range(uses.source_start[s], uses.source_start[s + 1]):
        k = uses.by_source[j]
        shift: Size = shift_of_rows(uses, k)
        for a in range(uses.use_start[k], uses.use_start[k + 1]):
            if flow[a] > 0:
                i = rows[shift + a]
                if payer[i] < 0:
                    payer[i] = uses.use_node[k]
                elif level[payer[i]] != level[uses.use_node[k]]:
                    return i
                paid[i] += flow[a]
    return -1


def add_paid_until(
    s: Size, until: Ints, price: cython.double, row_weight: Doubles, uses: UsesBySource, paid: OutDoubles
) -> None:
    """Add what each row pays for source `s` to the bin of the first point at which it no longer pays."""
    row_until: OutInts = np.zeros(row_weight.shape[0], dtype=np.int32)
    rows: Ints = uses.rows
    i: Size
    j: Size
    k: Size
    a: Size
    shift: Size
    last: int32_t
    with cython.nogil:
        for j in range(uses.source_start[s], uses.source_start[s + 1]):
            k = uses.by_source[j]
            last = until[uses.use_node[k]]
            if last > 0:
                shift = shift_of_rows(uses, k)
                for a in range(uses.use_start[k], uses.use_start[k + 1]):
                    i = rows[shift + a]
                    row_until[i] = max(row_until[i], last)
        for i in range(row_until.shape[0]):
            paid[row_until[i]] += price * row_weight[i]
