"""Input of the kernels: a forest and its prices as arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest, preorder, tree_arrays
from budgetprune.predictor.bounds_kernels import distinct_bounds
from budgetprune.predictor.state_kernels import BoundedTrees
from budgetprune.utils.arrays import frozen

LINE = 64  # bytes in a cache line
NEVER = -(2**61)  # below all possible sums

_NODE = np.dtype(
    [
        ("threshold", np.float32),
        ("feature", np.int32),
        ("child", np.uint32),
        ("bounds", np.uint32),
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
    number, bounds = distinct_bounds(forest.right, forest.is_split, value * scale)
    whole_base = np.stack([np.floor(base * scale), np.ceil(base * scale)]).astype(np.int64)
    n_columns = bounds.shape[2]
    if n_columns > 2:
        # Pad to full cache lines and registers; padding can never win.
        n_columns = 1 << (n_columns - 1).bit_length()
        fill = n_columns - base.size
        whole_base = np.pad(whole_base, ((0, 0), (0, fill)), constant_values=NEVER)
    wide = aligned(len(bounds) * 2 * n_columns, np.dtype(np.int32)).reshape(-1, 2, n_columns)
    wide[:, :, : bounds.shape[2]] = bounds
    split = hot_paths(forest)
    place, origin = places(forest, split)
    return BoundedTrees(
        bounded_nodes(forest, number, place, origin.size),
        origin,
        _share_left(forest, split),
        frozen(wide),
        direction,
        whole_base,
        base.size,
        scale,
        forest.n_features,
        *tree_arrays(forest),
    )


def hot_paths(forest: Forest) -> NDArray[np.int64]:
    """List the splits in pre-order, at each the side first that more training rows reached.

    So nodes that most examples reach one after the other are often in the same cache line.
    """
    left, right = np.arange(1, forest.n_nodes + 1), forest.right
    # Leaves have no right child: -1.
    is_left = forest.weight[np.where(forest.is_split, left, 0)] >= forest.weight[right]
    first, second = np.where(is_left, left, right), np.where(is_left, right, left).astype(np.int64)
    order = preorder(forest.tree_start, np.where(forest.is_split, first, -1), second)
    return order[forest.is_split[order]]


def places(forest: Forest, split: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Order nodes so that both children of a split are beside each other: 0 and 1, 2 and 3, ...

    First come the roots, each beside an empty place, then the children of all splits, in the order `split`.

    Returns
    -------
    place : of each node of the forest
    origin : int32 array, the node of the forest at each place; that of its neighbour at empty ones
    """
    first = 2 * (forest.n_trees + np.arange(split.size))
    place = np.empty(forest.n_nodes, dtype=np.intp)
    place[forest.tree_start[:-1]] = 2 * np.arange(forest.n_trees)
    place[split + 1], place[forest.right[split]] = first, first + 1
    origin = np.empty(2 * (forest.n_trees + split.size), dtype=np.int32)
    origin[1 : 2 * forest.n_trees : 2] = forest.tree_start[:-1]
    origin[place] = np.arange(forest.n_nodes)
    return place, frozen(origin)


def bounded_nodes(
    forest: Forest, number: NDArray[np.int32], place: NDArray[np.intp], n_places: int
) -> NDArray[np.void]:
    """Pack what one step reads of a node into 16 bytes, and both children of a split into a cache line.

    Parameters
    ----------
    forest : Forest
    number : of the bounds of each node, in the order of the forest
    place : of each node, see `places`
    n_places : their number

    Returns
    -------
    nodes : structured array of shape (n_places,)
        `feature` as in the forest, `n_features` for leaves; `threshold`, rounded to single precision, NaN
        where a comparison alone does not decide the side; `child`, the place of the left child, which the
        right one follows; `bounds`, the number of the bounds.
    """
    nodes = aligned(n_places, _NODE)
    nodes["threshold"][place] = np.nan
    if forest.missing != "nan-or-zero":
        with np.errstate(over="ignore", invalid="ignore"):
            nodes["threshold"][place] = forest.threshold
    nodes["feature"] = forest.n_features
    nodes["feature"][place] = np.where(forest.is_split, forest.feature, forest.n_features)
    split = np.flatnonzero(forest.is_split)
    nodes["child"][place[split]] = place[split + 1]
    nodes["bounds"][place] = number
    return frozen(nodes)


def aligned(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of zeros that begins with a cache line."""
    room = np.zeros(size * dtype.itemsize + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size * dtype.itemsize].view(dtype)


def exponent(values: NDArray[np.float64]) -> int:
    """Return the exponent of the least power of two that is larger than all absolute values."""
    return int(np.frexp(np.abs(values).max())[1])


def _share_left(forest: Forest, split: NDArray[np.int64]) -> NDArray[np.float64]:
    left, right = forest.weight[split + 1], forest.weight[forest.right[split]]
    # Training weights are only an estimate; no side gets probability 0.
    roots = np.full(forest.n_trees, 0.5)
    return np.concatenate([roots, (left + 1) / (left + right + 2)])


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
