"""Kernels of the primal-dual solver: pruning of single trees, and sharing of prices.

Trees and sources are independent parts of the work. No two of them add to the same number, so every sum has
one order: the same input gives the same bits, with any number of threads.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import exp, fabs, log1p
else:
    from math import exp, fabs, log1p

    from budgetprune.utils.kernel_types import (
        Doubles,
        Ints,
        Longs,
        OutDoubles,
        OutDoubles2,
        OutFlags,
        Shorts,
        Size,
        Words,
        int16_t,
    )

    LEVELS = 256

# Usage is rounded up to multiples of 1 / N_LEVELS, and the splits above each level are a candidate.
N_LEVELS = LEVELS


# --- Pruning of trees, given their payments -----------------------------------------------------------------


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


# --- Sharing of prices, given the weights of the uses -------------------------------------------------------


class Uses:
    """Relevant first uses, source by source. A source and a row form a *pair*.

    Parameters
    ----------
    source_start : int64 array of shape (n_sources + 1,)
        Source s is needed by the uses from ``source_start[s]`` to ``source_start[s + 1]``.
    start, stop : int64 arrays of shape (n_uses,)
        Use k is by the rows ``rows[start[k]:stop[k]]``.
    rows : uint32 array of shape (n_trees * n_rows,)
    price : float64 array of shape (n_sources,)
        lambda times the price of the source. A pair's price is that times the weight of its row.
    row_weight : float64 array of shape (n_rows,)
    """

    def __init__(
        self, source_start: Longs, start: Longs, stop: Longs, rows: Words, price: Doubles, row_weight: Doubles
    ) -> None:
        self.source_start = source_start
        self.start = start
        self.stop = stop
        self.rows = rows
        self.price = price
        self.row_weight = row_weight


class SourceScratch:
    """Numbers for each row while a source is worked on.

    Attributes
    ----------
    rate : payment per unit of weight for the row's pair
    highest : highest level of the uses of the row's pair
    """

    def __init__(self, n_rows: int) -> None:
        self.rate = np.empty(n_rows)
        self.highest = np.empty(n_rows, np.int16)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_rates(
    s: Size, uses: Uses, weight: Doubles, level: Shorts, cost_by_level: OutDoubles2, scratch: SourceScratch
) -> cython.void:
    """Fill in the rates of source s; also add to its costs by level."""
    n_rows: Size = uses.row_weight.shape[0]
    i: Size
    k: Size
    a: Size
    for i in range(n_rows):
        scratch.rate[i] = 0.0
        scratch.highest[i] = 0
    for k in range(uses.source_start[s], uses.source_start[s + 1]):
        weight_of_use: cython.double = weight[k]
        level_of_use: int16_t = level[k]
        for a in range(uses.start[k], uses.stop[k]):
            i = uses.rows[a]
            scratch.rate[i] += weight_of_use
            if scratch.highest[i] < level_of_use:
                scratch.highest[i] = level_of_use
    for i in range(n_rows):
        price: cython.double = uses.price[s] * uses.row_weight[i]
        cost_by_level[s, scratch.highest[i]] += price
        scratch.rate[i] = price / scratch.rate[i] if scratch.rate[i] > 0 else 0.0


def share_prices(
    s: Size, uses: Uses, weight: Doubles, level: Shorts, paid: OutDoubles, cost_by_level: OutDoubles2
) -> None:
    """Let the uses of each pair with source s share its price in proportion to their weights.

    Parameters
    ----------
    weight, level : of each use
    paid : of shape (n_uses,)
        Filled with the total payment of each use (the sum of beta over its rows).
    cost_by_level : of shape (n_sources, N_LEVELS + 1)
        The prices of the pairs whose highest level is this are added.
    """
    scratch = SourceScratch(uses.row_weight.shape[0])
    k: Size
    a: Size
    with cython.nogil:
        find_rates(s, uses, weight, level, cost_by_level, scratch)
        for k in range(uses.source_start[s], uses.source_start[s + 1]):
            total_rate: cython.double = 0.0
            for a in range(uses.start[k], uses.stop[k]):
                total_rate += scratch.rate[uses.rows[a]]
            paid[k] = weight[k] * total_rate


def write_shares(s: Size, uses: Uses, weight: Doubles, incidence: Longs, beta: OutDoubles) -> None:
    """Write each row's share at each use of source s into `beta`, for use k from ``incidence[k]`` on."""
    scratch = SourceScratch(uses.row_weight.shape[0])
    level: Shorts = np.zeros(weight.shape[0], np.int16)
    unused: OutDoubles2 = np.zeros((uses.price.shape[0], N_LEVELS + 1))
    k: Size
    q: Size
    with cython.nogil:
        find_rates(s, uses, weight, level, unused, scratch)
        for k in range(uses.source_start[s], uses.source_start[s + 1]):
            for q in range(uses.stop[k] - uses.start[k]):
                beta[incidence[k] + q] = weight[k] * scratch.rate[uses.rows[uses.start[k] + q]]
