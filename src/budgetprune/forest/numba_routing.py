"""Temporary: what kernels that are not ported yet need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.packed import ZERO, packed_nodes
from budgetprune.utils.jit import njit

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


def numba_pack(forest: Forest) -> PackedTrees:
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


@njit(cache=True, inline="always")
def is_below(x: Any, threshold: Any, missing_left: Any) -> Any:
    """Whether `x` goes left at a threshold. A missing value goes to the side stored in the split."""
    return (x <= threshold) | (missing_left & np.isnan(x))


# Inlined by numba: LLVM does not inline calls with so many arrays, and a call per step is four times slower.
# The arrays are parameters, because reading them here from a tuple of trees makes `simulate` 2 to 3 x slower.
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
    """Whether a row with value `x` of the tested feature goes left at split `h`.

    A missing value goes to the side stored in the split; a value goes left if `x <= threshold`, a category if
    it is in the split's set. Categories that the set has no bit for, negative ones too, go right.
    """
    s = category_set[h]
    if s >= 0:
        if np.isnan(x):
            return bool(missing_left[h])
        return has_category(x, category_bits[category_start[s] : category_start[s + 1]])
    # No branch: with one more, numba counts references to all arrays at every step.
    is_zero = zero_is_missing & (abs(x) <= ZERO)
    return bool((is_zero & missing_left[h]) | ((not is_zero) & is_below(x, threshold[h], missing_left[h])))


@njit(cache=True)
def has_category(x: Any, bits: NDArray[np.uint32]) -> bool:
    """Whether category `x` is in the set: bit `c % 32` of word `c // 32` stands for category `c`."""
    if not 0 <= x < 32 * bits.size:
        return False
    category = np.int64(x)
    return bool(bits[category >> 5] >> np.uint32(category & 31) & np.uint32(1))
