"""Input of the kernels: a forest and its prices as arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest, tree_arrays
from budgetprune.predictor.bounds_kernels import bounds_below
from budgetprune.predictor.state_kernels import BoundedTrees
from budgetprune.utils.arrays import frozen

LINE = 64  # bytes in a cache line
NEVER = -(2**61)  # below all possible sums

_NODE = np.dtype(
    [
        ("threshold", np.float64),
        ("share_left", np.float64),
        ("feature", np.int32),
        ("right", np.uint32),
        ("low", np.int32),
        ("high", np.int32),
    ],
    align=True,
)


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
    node = bounded_nodes(forest, bounds)
    return BoundedTrees(node, bounds, direction, whole_base, scale, *tree_arrays(forest))


def bounded_nodes(forest: Forest, bounds: NDArray[np.int32]) -> NDArray[np.void]:
    """Pack what one step reads of a node into half a cache line.

    Parameters
    ----------
    forest : Forest
    bounds : of shape (n_nodes, 2, n_columns)

    Returns
    -------
    nodes : structured array of shape (n_nodes,)
        `feature` and `right` as in the forest; `threshold`, NaN where a comparison alone does not decide the
        side; `share_left`, the probability to go left, estimated from training rows; `low` and `high`, the
        bounds in the first column.
    """
    nodes = aligned(forest.n_nodes, _NODE)
    nodes["threshold"] = np.nan if forest.missing == "nan-or-zero" else forest.threshold
    nodes["share_left"] = _share_left(forest)
    nodes["feature"] = forest.feature
    nodes["right"] = np.maximum(forest.right, 0)
    nodes["low"], nodes["high"] = bounds[:, 0, 0], bounds[:, 1, 0]
    return frozen(nodes)


def _widened(bounds: NDArray[np.int32], n_columns: int) -> NDArray[np.int32]:
    """Return the bounds padded to more columns, aligned to a cache line."""
    wide = aligned(int(np.prod(bounds.shape[:2])) * n_columns, np.dtype(np.int32))
    wide = wide.reshape(*bounds.shape[:2], n_columns)
    wide[:, :, : bounds.shape[2]] = bounds
    return wide


def aligned(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of zeros that begins with a cache line."""
    room = np.zeros(size * dtype.itemsize + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size * dtype.itemsize].view(dtype)


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
