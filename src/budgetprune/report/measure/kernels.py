"""Kernel that counts how often rows test features."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import Flags, Ints, Ints2, OutInts, OutLongs2, Size

# The paper's limit between few and many uses.
MOST_FEW = cython.declare(Size, 7)


def count_pairs(leaf: Ints2, parent: Ints, feature: Ints, is_counted: Flags) -> NDArray[np.int64]:
    """Count the counted features with 0, 1 to 7, and more uses in each row; of shape (n_rows, 3)."""
    found = np.zeros((leaf.shape[0], 3), dtype=np.int64)
    pairs: OutLongs2 = found
    uses: OutInts = np.empty(is_counted.shape[0], dtype=np.int32)
    i: Size
    k: Size
    t: Size
    with cython.nogil:
        for i in range(leaf.shape[0]):
            for k in range(is_counted.shape[0]):
                uses[k] = 0
            for t in range(leaf.shape[1]):
                # The splits along the path, from the leaf up.
                p: Size = parent[leaf[i, t]]
                while p >= 0:
                    uses[feature[p]] += 1
                    p = parent[p]
            for k in range(is_counted.shape[0]):
                if is_counted[k]:
                    pairs[i, 0 if uses[k] == 0 else 1 if uses[k] <= MOST_FEW else 2] += 1
    return found
