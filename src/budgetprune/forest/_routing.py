"""Kernels that send rows down the trees and add up what the trees answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

# What LightGBM calls zero where zeros mean "missing", a float32; no other library has that notion.
ZERO = float(np.float32(1e-35))

# Rows that a thread sends down one tree before it turns to the next: the tree stays in the cache meanwhile.
BLOCK = 256


# Inlined by numba: LLVM leaves calls with so many arrays alone, and a call per step costs a factor of four.
@njit(cache=True, inline="always")
def goes_left(
    x: Any,
    h: Any,
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    category_set: NDArray[np.int32],
    category_start: NDArray[np.int64],
    category_bits: NDArray[np.uint32],
    zero_is_missing: bool,
) -> bool:
    """Does a row whose value of the tested feature is `x` go left at split `h`?

    A missing value goes to the side the split remembers; a value goes left if `x <= threshold`, a category if
    it is in the split's set. Categories that the set has no bit for, negative ones too, go right.
    """
    if np.isnan(x):
        return bool(missing_left[h])
    s = category_set[h]
    if s >= 0:
        return has_category(x, category_bits[category_start[s] : category_start[s + 1]])
    if zero_is_missing and abs(x) <= ZERO:
        return bool(missing_left[h])
    return bool(x <= threshold[h])


@njit(cache=True)
def has_category(x: Any, bits: NDArray[np.uint32]) -> bool:
    """Is `x` the number of a category in the set? Bit `c % 32` of word `c // 32` says so for category `c`."""
    if not 0 <= x < 32 * bits.size:
        return False
    category = np.int64(x)
    return bool(bits[category >> 5] >> np.uint32(category & 31) & np.uint32(1))


@njit(cache=True, inline="always")
def find_leaf(
    row: NDArray[Any],
    root: Any,
    right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    category_set: NDArray[np.int32],
    category_start: NDArray[np.int64],
    category_bits: NDArray[np.uint32],
    zero_is_missing: bool,
) -> Any:
    """Follow one row from the root of a tree to the leaf where it stops."""
    h = root
    while feature[h] >= 0:
        x = row[feature[h]]
        if goes_left(
            x, h, threshold, missing_left, category_set, category_start, category_bits, zero_is_missing
        ):
            h += 1  # pre-order: the left child comes next
        else:
            h = np.int64(right[h])
    return h


@njit(cache=True, parallel=True)
def find_leaves(
    X: NDArray[Any],
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    category_set: NDArray[np.int32],
    category_start: NDArray[np.int64],
    category_bits: NDArray[np.uint32],
    zero_is_missing: bool,
) -> NDArray[np.int32]:
    """Find the leaf of every row in every tree."""
    n_rows, n_trees = X.shape[0], tree_start.size - 1
    leaves = np.empty((n_rows, n_trees), dtype=np.int32)
    for block in prange((n_rows + BLOCK - 1) // BLOCK):
        for t in range(n_trees):
            for i in range(block * BLOCK, min(n_rows, (block + 1) * BLOCK)):
                leaves[i, t] = find_leaf(
                    X[i],
                    tree_start[t],
                    right,
                    feature,
                    threshold,
                    missing_left,
                    category_set,
                    category_start,
                    category_bits,
                    zero_is_missing,
                )
    return leaves


@njit(cache=True, parallel=True)
def sum_values(
    leaves: NDArray[np.int32],
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add what the trees answer to the base score, tree after tree: the order decides the last bits."""
    scores = np.empty((leaves.shape[0], base.size))
    for i in prange(leaves.shape[0]):
        scores[i] = base
        for t in range(leaves.shape[1]):
            if tree_output[t] < 0:
                for k in range(base.size):
                    scores[i, k] += value[leaves[i, t], k]
            else:
                scores[i, tree_output[t]] += value[leaves[i, t], 0]
    return scores
