"""Input of the kernels: a forest and its prices as tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest, numba_pack
from budgetprune.utils.arrays import frozen
from budgetprune.utils.jit import njit

LINE = 64  # bytes in a cache line
NEVER = -(2**61)  # below all possible sums


class BoundedTrees(NamedTuple):
    """Nodes of all trees in pre-order, with bounds of the values below each node.

    Bounds are integers: values times a power of two, rounded outwards. So sums are exact in any order of
    additions and subtractions, and the next step depends only on the known values.
    """

    # As in `PackedTrees`; numba does not support nested tuples in parallel loops.
    node: NDArray[np.void]
    tree_start: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    zero_is_missing: bool
    # Probability to go left, estimated from training rows.
    share_left: NDArray[np.float64]
    # Of shape (n_nodes, 2, n_columns): the lowest and the highest value over the leaves below, by direction
    # (see `DecisionRule`). A tree that adds to one of several directions has its bounds in the first column.
    bounds: NDArray[np.int32]
    direction: NDArray[np.int32]  # that a tree adds to, -1 for all
    base: NDArray[np.int64]  # of shape (2, n_directions), lower and upper; may be padded
    scale: float


class Sources(NamedTuple):
    """Sources that can be requested: those of a price list, then the features that need no source."""

    price: NDArray[np.float64]
    needs_start: NDArray[np.int64]  # by feature
    needs: NDArray[np.int32]
    gives_start: NDArray[np.int64]  # by source: the inverse of `needs`
    gives: NDArray[np.int32]
    is_shared: bool  # whether any source has several features, or any feature needs several sources


def trees_of(
    forest: Forest,
    value: NDArray[np.float64],
    direction: NDArray[np.int32],
    base: NDArray[np.float64],
) -> BoundedTrees:
    """Prepare a forest whose nodes have the given values, by direction."""
    # Trees that add to one direction have unused columns if other trees add to all.
    is_read = (direction[forest.tree_of_node] < 0)[:, np.newaxis] | (np.arange(value.shape[1]) == 0)
    value = np.where(is_read, value, 0.0)
    # Values get 30 bits, so that differences fit into 32, unless the base would not fit. The scale must stay
    # finite for the cuts of a rule.
    bits = min(30 - exponent(value), 60 - exponent(base), 900)
    scale = 2.0**bits
    bounds = bounds_below(forest.right, forest.is_split, value * scale)
    whole_base = np.stack([np.floor(base * scale), np.ceil(base * scale)]).astype(np.int64)
    if bounds.shape[2] > 2:
        # Pad to full cache lines and registers; padding can never win.
        n_columns = 1 << (bounds.shape[2] - 1).bit_length()
        bounds = _widened(bounds, n_columns)
        fill = n_columns - base.size
        whole_base = np.pad(whole_base, ((0, 0), (0, fill)), constant_values=NEVER)
    # Writable arrays would need another compilation of the kernels.
    direction = frozen(direction.copy())
    return BoundedTrees(*numba_pack(forest), _share_left(forest), bounds, direction, whole_base, scale)


def _widened(bounds: NDArray[np.int32], n_columns: int) -> NDArray[np.int32]:
    """Return the bounds padded to more columns, aligned to a cache line."""
    shape = (*bounds.shape[:2], n_columns)
    size = int(np.prod(shape))
    room = np.zeros(size + LINE // 4, dtype=np.int32)
    start = -room.ctypes.data % LINE // 4
    wide = room[start : start + size].reshape(shape)
    wide[:, :, : bounds.shape[2]] = bounds
    return wide


def exponent(values: NDArray[np.float64]) -> int:
    """Return the exponent of the least power of two that is larger than all absolute values."""
    return int(np.frexp(np.abs(values).max())[1])


def _share_left(forest: Forest) -> NDArray[np.float64]:
    split = np.flatnonzero(forest.is_split)
    left, right = forest.weight[split + 1], forest.weight[forest.right[split]]
    share = np.full(forest.n_nodes, 0.5)
    # Training weights are only an estimate; no side gets probability 0.
    share[split] = (left + 1) / (left + right + 2)
    return share


@njit(cache=True)
def bounds_below(
    right: NDArray[np.int32], is_split: NDArray[np.bool_], value: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Compute the lowest and the highest leaf value below each node, by direction."""
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
    """Prepare a price list; a feature that needs no source becomes a free source."""
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
