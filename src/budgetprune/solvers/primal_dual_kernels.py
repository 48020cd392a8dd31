"""Kernels of the primal-dual solver: pruning of single trees, and sharing of prices.

Trees run in parallel where trees are pruned, sources where prices are shared. No two threads add to the same
number, so every sum has one order: the same input gives the same bits, with any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit, prange

# Usage is rounded up to multiples of 1 / N_LEVELS, and the splits above each level are a candidate.
N_LEVELS = 256


class Uses(NamedTuple):
    """Relevant first uses, source by source. A source and a row form a *pair*.

    Attributes
    ----------
    source_start : int64 array of shape (n_sources + 1,)
        Source s is needed by the uses from ``source_start[s]`` to ``source_start[s + 1]``.
    schedule : int64 array of shape (n_sources,)
        The sources in an order that gives contiguous parts of it about the same work.
    start, stop : int64 arrays of shape (n_uses,)
        Use k is by the rows ``rows[start[k]:stop[k]]``.
    rows : uint32 array of shape (n_trees * n_rows,)
        Unsigned, because a check for negative indices takes a fifth of the time.
    price : float64 array of shape (n_sources,)
        lambda times the price of the source. A pair's price is that times the weight of its row.
    row_weight : float64 array of shape (n_rows,)
    """

    source_start: NDArray[np.int64]
    schedule: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    rows: NDArray[np.uint32]
    price: NDArray[np.float64]
    row_weight: NDArray[np.float64]


# --- Pruning of trees, given their payments -----------------------------------------------------------------


@njit(cache=True)
def prune_tree(
    root: int,
    end: int,
    parent: NDArray[np.int32],
    right: NDArray[np.int32],
    error: NDArray[np.float64],
    charge: NDArray[np.float64],
    temperature: NDArray[np.float64],
    value: NDArray[np.float64],
    keep: NDArray[np.bool_],
    probability: NDArray[np.float64],
) -> None:
    """Find the best pruning of one tree, and the probability of each split under soft minima.

    The paper's shortest path is the recursion ``V(h) = min(error[h], charge[h] + V(left) + V(right))``. With
    soft minima, a split is kept with a probability that depends smoothly on the charges: the derivative of
    the soft V(root) by ``charge[h]``.
    """
    soft = np.empty(end - root)
    for h in range(end - 1, root - 1, -1):  # pre-order backwards: children first
        value[h] = soft[h - root] = error[h]
        keep[h], probability[h] = False, 0.0
        if right[h] < 0:
            continue
        split = charge[h] + value[h + 1] + value[right[h]]
        if split < error[h]:
            value[h], keep[h] = split, True
        if temperature[h] > 0:
            soft_split = charge[h] + soft[h + 1 - root] + soft[right[h] - root]
            odds = np.exp(-abs(error[h] - soft_split) / temperature[h])  # of the worse choice
            probability[h] = (1.0 if soft_split < error[h] else odds) / (1.0 + odds)
            soft[h - root] = min(error[h], soft_split) - temperature[h] * np.log1p(odds)
        else:
            # Without a possible gain, no split is kept, however soft the minima below it are.
            soft[h - root], probability[h] = value[h], 1.0 if keep[h] else 0.0
    for h in range(root + 1, end):
        keep[h] &= keep[parent[h]]
        probability[h] *= probability[parent[h]]


@njit(cache=True, parallel=True)
def prune_trees(
    tree_start: NDArray[np.int64],
    parent: NDArray[np.int32],
    right: NDArray[np.int32],
    error: NDArray[np.float64],
    charge: NDArray[np.float64],
    temperature: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Prune every tree on its own: V, the mask of the kept splits, and the probability of each split."""
    value, keep, probability = (
        np.empty(error.size),
        np.empty(error.size, dtype=np.bool_),
        np.empty(error.size),
    )
    for t in prange(tree_start.size - 1):
        prune_tree(
            tree_start[t],
            tree_start[t + 1],
            parent,
            right,
            error,
            charge,
            temperature,
            value,
            keep,
            probability,
        )
    return value, keep, probability


# --- Sharing of prices, given the weights of the uses -------------------------------------------------------


@njit(cache=True)
def price_per_weight(
    s: int,
    uses: Uses,
    weight: NDArray[np.float64],
    level: NDArray[np.int16],
    cost_by_level: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Payment per unit of weight for each row's pair with source s; also add to the costs by level."""
    n_rows = uses.row_weight.size
    total, highest = np.zeros(n_rows), np.zeros(n_rows, dtype=np.int16)
    for k in range(uses.source_start[s], uses.source_start[s + 1]):
        for a in range(uses.start[k], uses.stop[k]):
            i = uses.rows[a]
            total[i] += weight[k]
            highest[i] = max(highest[i], level[k])
    for i in range(n_rows):
        price = uses.price[s] * uses.row_weight[i]
        cost_by_level[highest[i]] += price
        total[i] = price / total[i] if total[i] > 0 else 0.0
    return total


@njit(cache=True)
def share_source(
    s: int,
    uses: Uses,
    weight: NDArray[np.float64],
    level: NDArray[np.int16],
    paid: NDArray[np.float64],
    cost_by_level: NDArray[np.float64],
) -> None:
    """Share the price of source s."""
    rate = price_per_weight(s, uses, weight, level, cost_by_level)
    for k in range(uses.source_start[s], uses.source_start[s + 1]):
        total_rate = 0.0
        for a in range(uses.start[k], uses.stop[k]):
            total_rate += rate[uses.rows[a]]
        paid[k] = weight[k] * total_rate


@njit(cache=True, parallel=True)
def share_prices(
    uses: Uses, weight: NDArray[np.float64], level: NDArray[np.int16]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Let the uses of each pair share its price in proportion to their weights.

    Returns
    -------
    paid : of shape (n_uses,)
        Total payment of each use (the sum of beta over its rows).
    cost_by_level : of shape (n_sources, N_LEVELS + 1)
        Price of the pairs whose highest level is this.
    """
    paid, cost_by_level = np.empty(weight.size), np.zeros((uses.price.size, N_LEVELS + 1))
    for j in prange(uses.schedule.size):
        s = uses.schedule[j]
        share_source(s, uses, weight, level, paid, cost_by_level[s])
    return paid, cost_by_level


@njit(cache=True, parallel=True)
def write_shares(
    uses: Uses, weight: NDArray[np.float64], incidence: NDArray[np.int64], beta: NDArray[np.float64]
) -> None:
    """Write each row's share at each use into `beta`, for use k from ``incidence[k]`` on."""
    level = np.zeros(weight.size, dtype=np.int16)
    for j in prange(uses.schedule.size):
        s = uses.schedule[j]
        rate = price_per_weight(s, uses, weight, level, np.zeros(N_LEVELS + 1))
        for k in range(uses.source_start[s], uses.source_start[s + 1]):
            for q in range(uses.stop[k] - uses.start[k]):
                beta[incidence[k] + q] = weight[k] * rate[uses.rows[uses.start[k] + q]]
