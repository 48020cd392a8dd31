"""Sets of categories as bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pack_sets(
    owner: NDArray[np.int64], category: NDArray[np.int64], n_sets: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Pack sets into the fields `category_start` and `category_bits` of a Forest.

    Parameters
    ----------
    owner, category : set and member of each pair, in any order; both at least 0
    n_sets : number of sets; a set without members gets one empty word
    """
    largest = np.zeros(n_sets, dtype=np.int64)
    np.maximum.at(largest, owner, category)
    start = np.concatenate([[0], np.cumsum(largest // 32 + 1)])
    bits = np.zeros(start[-1], dtype=np.uint32)
    np.bitwise_or.at(bits, start[owner] + category // 32, np.uint32(1) << (category % 32).astype(np.uint32))
    return start, bits
