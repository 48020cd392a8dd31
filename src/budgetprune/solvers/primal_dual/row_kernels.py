"""Kernels of the primal-dual solver over rows: the uses of a source by a row share its price.

A source and a row form a *pair*. Payments and prices are integers: a row's price is its weight in `units`,
for every source, and a payment is a whole number of units. Sums of integers do not depend on their order, so
the rows may be divided among threads, blocks and machines in any way. Prices of sources and lambda are
multiplied in later.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.stdint import int64_t, uint8_t
else:
    from budgetprune.utils.kernel_types import (
        Bytes,
        Doubles,
        Ints,
        Longs,
        OutDoubles,
        OutFlags,
        OutLongs,
        OutLongs2,
        RowNumbers,
        Size,
        int64_t,
        uint8_t,
    )

    LEVELS_PER_CLASS = 4


class UseRows:
    """First uses that some rows make, source by source.

    Parameters
    ----------
    source_start : int64 array of shape (n_sources + 1,)
        Source s is needed by the entries from ``source_start[s]`` to ``source_start[s + 1]``.
    use : int32 array of shape (n_entries,)
        Number of the use in the arrays of potentials, levels and payments.
    start, stop : int64 arrays of shape (n_entries,)
        The use is by ``rows[start[e]:stop[e]]``.
    units : int64 array of shape (n_rows,)
        Weight of each row.
    """

    def __init__(self, source_start: Longs, use: Ints, start: Longs, stop: Longs, units: Longs) -> None:
        self.source_start = source_start
        self.use = use
        self.start = start
        self.stop = stop
        self.units = units


def share_prices(
    first: Size,
    last: Size,
    uses: UseRows,
    rows: RowNumbers,
    weight: Doubles,
    level: Bytes,
    paid: OutLongs,
    counts: OutLongs2,
) -> None:
    """Let the uses of each pair share its price in proportion to their weights.

    For the sources from `first` to `last`; no other thread may work on these.

    Parameters
    ----------
    weight, level : of each use
    paid : of shape (n_uses,)
        The payment of each use, summed over its rows, is added.
    counts : of shape (n_sources, n_classes)
        The weights of the rows are added, by the class of the highest level among the uses of their pair.
    """
    n_rows: Size = uses.units.shape[0]
    rate: OutDoubles = np.empty(n_rows)
    highest: OutFlags = np.empty(n_rows, np.uint8)
    s: Size
    e: Size
    a: Size
    i: Size
    k: Size
    w: cython.double
    total: int64_t
    with cython.nogil:
        for s in range(first, last):
            if uses.source_start[s] == uses.source_start[s + 1]:
                for i in range(n_rows):
                    counts[s, 0] += uses.units[i]
                continue
            add_weights(s, uses, rows, weight, level, rate, highest)
            for i in range(n_rows):
                counts[s, (cython.cast(Size, highest[i]) + LEVELS_PER_CLASS - 1) // LEVELS_PER_CLASS] += (
                    uses.units[i]
                )
                if rate[i] > 0:
                    rate[i] = cython.cast(cython.double, uses.units[i]) / rate[i]
            for e in range(uses.source_start[s], uses.source_start[s + 1]):
                k = uses.use[e]
                w = weight[k]
                total = 0
                for a in range(uses.start[e], uses.stop[e]):
                    total += cython.cast(int64_t, w * rate[rows[a]])
                paid[k] += total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_weights(
    s: Size,
    uses: UseRows,
    rows: RowNumbers,
    weight: Doubles,
    level: Bytes,
    total: OutDoubles,
    highest: OutFlags,
) -> cython.void:
    """Fill in the total weight and the highest level of the uses of each pair with source s."""
    i: Size
    e: Size
    a: Size
    w: cython.double
    level_of_use: uint8_t
    for i in range(uses.units.shape[0]):
        total[i] = 0.0
        highest[i] = 0
    for e in range(uses.source_start[s], uses.source_start[s + 1]):
        w = weight[uses.use[e]]
        level_of_use = level[uses.use[e]]
        for a in range(uses.start[e], uses.stop[e]):
            i = rows[a]
            total[i] += w
            if highest[i] < level_of_use:
                highest[i] = level_of_use


def write_shares(
    s: Size,
    uses: UseRows,
    rows: RowNumbers,
    weight: Doubles,
    unit: cython.double,
    incidence: Longs,
    beta: OutDoubles,
) -> None:
    """Write each row's payment at each use of source s into `beta`, for use k from ``incidence[k]`` on.

    Parameters
    ----------
    unit : price of the source for a row of one unit
    """
    total: OutDoubles = np.empty(uses.units.shape[0])
    highest: OutFlags = np.empty(uses.units.shape[0], np.uint8)
    level: Bytes = np.zeros(weight.shape[0], np.uint8)
    e: Size
    k: Size
    q: Size
    i: Size
    share: int64_t
    with cython.nogil:
        add_weights(s, uses, rows, weight, level, total, highest)
        for e in range(uses.source_start[s], uses.source_start[s + 1]):
            k = uses.use[e]
            for q in range(uses.stop[e] - uses.start[e]):
                i = rows[uses.start[e] + q]
                share = 0
                if total[i] > 0:
                    share = cython.cast(
                        int64_t, weight[k] * (cython.cast(cython.double, uses.units[i]) / total[i])
                    )
                beta[incidence[k] + q] = unit * cython.cast(cython.double, share)


def count_rows(
    first: Size,
    last: Size,
    uses: UseRows,
    rows: RowNumbers,
    level: Bytes,
    counts: OutLongs2,
) -> None:
    """Add the weights of the rows to `counts`, by the highest level among the uses of their pair.

    For the sources from `first` to `last`. Levels are not combined into classes, as in `share_prices`.
    """
    n_rows: Size = uses.units.shape[0]
    highest: OutFlags = np.empty(n_rows, np.uint8)
    s: Size
    e: Size
    a: Size
    i: Size
    level_of_use: uint8_t
    with cython.nogil:
        for s in range(first, last):
            for i in range(n_rows):
                highest[i] = 0
            for e in range(uses.source_start[s], uses.source_start[s + 1]):
                level_of_use = level[uses.use[e]]
                if level_of_use == 0:
                    continue
                for a in range(uses.start[e], uses.stop[e]):
                    i = rows[a]
                    if highest[i] < level_of_use:
                        highest[i] = level_of_use
            for i in range(n_rows):
                counts[s, highest[i]] += uses.units[i]


def audit_shares(
    first: Size,
    last: Size,
    uses: UseRows,
    rows: RowNumbers,
    weight: Doubles,
    paid: OutLongs,
    overpaid: OutLongs,
) -> None:
    """Recompute the payments for a certificate, and compare the sum of each pair with its price.

    For the sources from `first` to `last`.

    Parameters
    ----------
    weight : of each use
    paid : of shape (n_uses,)
        The payment of each use is added.
    overpaid : of shape (n_sources,)
        What the uses of a pair pay beyond its price is added.
    """
    n_rows: Size = uses.units.shape[0]
    total: OutDoubles = np.empty(n_rows)
    sum_of_shares: OutLongs = np.empty(n_rows, np.int64)
    s: Size
    e: Size
    a: Size
    i: Size
    k: Size
    share: int64_t
    with cython.nogil:
        for s in range(first, last):
            for i in range(n_rows):
                total[i] = 0.0
                sum_of_shares[i] = 0
            for e in range(uses.source_start[s], uses.source_start[s + 1]):
                for a in range(uses.start[e], uses.stop[e]):
                    total[rows[a]] += weight[uses.use[e]]
            for e in range(uses.source_start[s], uses.source_start[s + 1]):
                k = uses.use[e]
                if not weight[k] > 0:
                    continue
                for a in range(uses.start[e], uses.stop[e]):
                    i = rows[a]
                    share = cython.cast(
                        int64_t, weight[k] * (cython.cast(cython.double, uses.units[i]) / total[i])
                    )
                    paid[k] += share
                    sum_of_shares[i] += share
            for i in range(n_rows):
                if sum_of_shares[i] > uses.units[i]:
                    overpaid[s] += sum_of_shares[i] - uses.units[i]
