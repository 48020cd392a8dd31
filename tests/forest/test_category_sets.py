"""Sets of categories as bits."""

import numpy as np

from budgetprune.forest.category_sets import pack_sets


def test_bits_are_members():
    owner, category = np.array([2, 0, 0, 2, 0]), np.array([70, 3, 31, 64, 32])
    start, bits = pack_sets(owner, category, 3)
    assert start.tolist() == [0, 2, 3, 6]
    for s in range(3):
        own = bits[start[s] : start[s + 1]]
        members = [c for c in range(32 * own.size) if own[c // 32] >> (c % 32) & 1]
        assert members == sorted(category[owner == s].tolist())


def test_no_sets():
    empty = np.empty(0, dtype=np.int64)
    start, bits = pack_sets(empty, empty, 0)
    assert (start.tolist(), bits.size) == ([0], 0)
