"""Packed node layout for routing: the data of one step is contiguous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.kernels import Trees32, Trees64
from budgetprune.utils.arrays import frozen

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


# LightGBM's threshold (float32) for zero where zeros mean "missing"; specific to LightGBM.
ZERO = float(np.float32(1e-35))

PackedTrees: TypeAlias = Trees32 | Trees64


def pack(forest: Forest) -> PackedTrees:
    """Pack the trees for fast routing."""
    trees = Trees32 if forest.input_dtype == np.float32 else Trees64
    return trees(packed_nodes(forest), *tree_arrays(forest))


def tree_arrays(forest: Forest) -> tuple[Any, ...]:
    """Return the arguments of `Trees`."""
    return (
        forest.tree_start,
        forest.threshold,
        forest.missing_left,
        forest.category_set,
        forest.category_start,
        forest.category_bits,
        ZERO if forest.missing == "nan-or-zero" else -1.0,
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
