"""Packed node layout for routing: the data of one step is contiguous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.arrays import frozen

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


class PackedTrees(NamedTuple):
    """Input of the routing kernels; `packed_nodes` describes `node`."""

    node: NDArray[np.void]
    tree_start: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    zero_is_missing: bool


def pack(forest: Forest) -> PackedTrees:
    """Pack the trees for fast routing."""
    return PackedTrees(
        packed_nodes(forest),
        forest.tree_start,
        forest.threshold,
        forest.missing_left,
        forest.category_set,
        forest.category_start,
        forest.category_bits,
        forest.missing == "nan-or-zero",
    )


def packed_nodes(forest: Forest) -> NDArray[np.void]:
    """Pack nodes so that a step reads one cache line, 16 bytes of it if rows are float32.

    Returns
    -------
    nodes : structured array of shape (n_nodes,)
        `feature` as in the forest; `child`, first the right one, then the left one; and `threshold` in the
        precision of the rows, NaN where a comparison alone does not decide the side.
    """
    dtype = [("threshold", forest.input_dtype), ("feature", np.int32), ("child", np.uint32, 2)]
    nodes = np.zeros(forest.n_nodes, dtype=np.dtype(dtype, align=True))
    if forest.missing != "nan-or-zero":
        nodes["threshold"] = rounded_down(forest.threshold, forest.input_dtype)
    else:
        nodes["threshold"] = np.nan
    nodes["feature"] = forest.feature
    split = np.flatnonzero(forest.is_split)
    nodes["child"][split] = np.column_stack([forest.right[split], forest.left[split]])
    return frozen(nodes)


def rounded_down(threshold: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round thresholds to a precision without changing `x <= threshold` for any `x` of that precision."""
    # A NaN with unusual bits, which a file may hold at leaves, makes some operations warn.
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = threshold.astype(dtype)
        return np.where(rounded > threshold, np.nextafter(rounded, dtype.type(-np.inf)), rounded)
