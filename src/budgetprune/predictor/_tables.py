"""What the kernels read: a forest and its prices as tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest


class Trees(NamedTuple):
    """Nodes of all trees in pre-order, and what is still possible below each of them.

    `lower` and `upper` have one column per *direction* (see `Aim`); a tree that feeds a single one of several
    has its bounds in the first column.
    """

    start: NDArray[np.int64]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    zero_is_missing: bool
    share_left: NDArray[np.float64]  # how probable it is to go left, as training rows did
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    direction: NDArray[np.int32]  # that a tree feeds, -1 for all
    base: NDArray[np.float64]  # by direction


class Sources(NamedTuple):
    """What can be asked for: the sources of a price list, then the features that need none of them."""

    price: NDArray[np.float64]
    needs_start: NDArray[np.int64]  # by feature
    needs: NDArray[np.int32]
    gives_start: NDArray[np.int64]  # by source: the other way round
    gives: NDArray[np.int32]


def trees_of(
    forest: Forest,
    value: NDArray[np.float64],
    direction: NDArray[np.int32],
    base: NDArray[np.float64],
) -> Trees:
    """Prepare a forest whose nodes have the given values, by direction."""
    # A tree that feeds one direction has columns that nobody reads where others feed all.
    is_read = (direction[forest.tree_of_node] < 0)[:, np.newaxis] | (np.arange(value.shape[1]) == 0)
    value = np.where(is_read, value, 0.0)
    lower, upper = ranges_below(forest.right, forest.is_split, value)
    return Trees(
        forest.tree_start,
        forest.right,
        forest.feature,
        forest.threshold,
        forest.missing_left,
        forest.category_set,
        forest.category_start,
        forest.category_bits,
        forest.missing == "nan-or-zero",
        _share_left(forest),
        lower,
        upper,
        direction,
        base,
    )


def _share_left(forest: Forest) -> NDArray[np.float64]:
    split = np.flatnonzero(forest.is_split)
    left, right = forest.weight[split + 1], forest.weight[forest.right[split]]
    share = np.full(forest.n_nodes, 0.5)
    # Training weights are only a guess at what comes; no side is taken to be impossible.
    share[split] = (left + 1) / (left + right + 2)
    return share


@njit(cache=True)
def ranges_below(
    right: NDArray[np.int32], is_split: NDArray[np.bool_], value: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the lowest and the highest value over the leaves below each node, direction by direction."""
    lower, upper = value.copy(), value.copy()
    for h in range(is_split.size - 1, -1, -1):
        if is_split[h]:
            for d in range(value.shape[1]):
                lower[h, d] = min(lower[h + 1, d], lower[right[h], d])
                upper[h, d] = max(upper[h + 1, d], upper[right[h], d])
    return lower, upper


def sources_of(costs: CostTable) -> Sources:
    """Prepare a price list; a feature that needs no source becomes one of its own, without a price."""
    n_needs = np.diff(costs.needs_start)
    free = np.flatnonzero(n_needs == 0)
    feature = np.concatenate([np.repeat(np.arange(costs.n_features), n_needs), free])
    source = np.concatenate([costs.needs, costs.n_sources + np.arange(free.size)])
    n_sources = costs.n_sources + free.size
    by_feature, by_source = np.argsort(feature, kind="stable"), np.lexsort((feature, source))
    return Sources(
        np.append(costs.price, np.zeros(free.size)),
        _starts(feature, costs.n_features),
        source[by_feature].astype(np.int32),
        _starts(source, n_sources),
        feature[by_source].astype(np.int32),
    )


def _starts(owner: NDArray[np.intp], n_owners: int) -> NDArray[np.int64]:
    return np.append(0, np.cumsum(np.bincount(owner, minlength=n_owners))).astype(np.int64)
