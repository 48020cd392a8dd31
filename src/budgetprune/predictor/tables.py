"""What the kernels read: a forest and its prices as tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.utils.arrays import frozen
from budgetprune.utils.jit import njit

LINE = 64  # bytes in a line of the cache
NEVER = -(2**61)  # a sum that is below all others


class Trees(NamedTuple):
    """Nodes of all trees in pre-order, and what is still possible below each of them.

    Bounds are whole numbers, values times a power of two, rounded outwards. So sums are exact in whatever
    order they are added up and taken apart again, and what is known about an example decides alone what comes
    next.
    """

    # As in `PackedTrees`; numba takes no tuples within tuples into parallel loops.
    node: NDArray[np.void]
    tree_start: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    zero_is_missing: bool
    # How probable it is to go left, as training rows did.
    share_left: NDArray[np.float64]
    # Of shape (n_nodes, 2, n_columns): the lowest and the highest value over the leaves below, by direction
    # (see `Aim`). A tree that feeds a single one of several directions has its bounds in the first column.
    bounds: NDArray[np.int32]
    direction: NDArray[np.int32]  # that a tree feeds, -1 for all
    base: NDArray[np.int64]  # of shape (2, n_directions), lower and upper; perhaps with more columns
    scale: float


class Sources(NamedTuple):
    """What can be asked for: the sources of a price list, then the features that need none of them."""

    price: NDArray[np.float64]
    needs_start: NDArray[np.int64]  # by feature
    needs: NDArray[np.int32]
    gives_start: NDArray[np.int64]  # by source: the other way round
    gives: NDArray[np.int32]
    is_shared: bool  # whether any source gives several features, or any feature needs several sources


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
    # Values get 30 bits, so that differences fit as well, unless the base would not fit then; and some scale
    # must be left for the cuts of a rule.
    bits = min(30 - exponent(value), 60 - exponent(base), 900)
    scale = 2.0**bits
    bounds = bounds_below(forest.right, forest.is_split, value * scale)
    whole_base = np.stack([np.floor(base * scale), np.ceil(base * scale)]).astype(np.int64)
    if bounds.shape[2] > 2:
        # Whole lines of the cache, and whole registers; nobody takes what is filled up for a winner.
        n_columns = 1 << (bounds.shape[2] - 1).bit_length()
        bounds = _widened(bounds, n_columns)
        fill = n_columns - base.size
        whole_base = np.pad(whole_base, ((0, 0), (0, fill)), constant_values=NEVER)
    # Kernels are compiled once more for arrays that may be written to.
    direction = frozen(direction.copy())
    return Trees(*forest._packed, _share_left(forest), bounds, direction, whole_base, scale)


def _widened(bounds: NDArray[np.int32], n_columns: int) -> NDArray[np.int32]:
    """The same bounds with more columns, at the start of a line of the cache."""
    shape = (*bounds.shape[:2], n_columns)
    size = int(np.prod(shape))
    room = np.zeros(size + LINE // 4, dtype=np.int32)
    start = -room.ctypes.data % LINE // 4
    wide = room[start : start + size].reshape(shape)
    wide[:, :, : bounds.shape[2]] = bounds
    return wide


def exponent(values: NDArray[np.float64]) -> int:
    """The least power of two that is larger than all values."""
    return int(np.frexp(np.abs(values).max())[1])


def _share_left(forest: Forest) -> NDArray[np.float64]:
    split = np.flatnonzero(forest.is_split)
    left, right = forest.weight[split + 1], forest.weight[forest.right[split]]
    share = np.full(forest.n_nodes, 0.5)
    # Training weights are only a guess at what comes; no side is taken to be impossible.
    share[split] = (left + 1) / (left + right + 2)
    return share


@njit(cache=True)
def bounds_below(
    right: NDArray[np.int32], is_split: NDArray[np.bool_], value: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Find the lowest and the highest value over the leaves below each node, direction by direction."""
    bounds = np.empty((value.shape[0], 2, value.shape[1]), dtype=np.int32)
    for h in range(is_split.size - 1, -1, -1):
        for d in range(value.shape[1]):
            if is_split[h]:
                bounds[h, 0, d] = min(bounds[h + 1, 0, d], bounds[right[h], 0, d])
                bounds[h, 1, d] = max(bounds[h + 1, 1, d], bounds[right[h], 1, d])
            else:
                bounds[h, 0, d] = np.floor(value[h, d])
                bounds[h, 1, d] = np.ceil(value[h, d])
    return bounds


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
        bool(n_needs.max() > 1 or np.unique(costs.needs).size < costs.needs.size),
    )


def _starts(owner: NDArray[np.intp], n_owners: int) -> NDArray[np.int64]:
    return np.append(0, np.cumsum(np.bincount(owner, minlength=n_owners))).astype(np.int64)
