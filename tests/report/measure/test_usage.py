"""Counts of how often rows test features."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report.measure.kernels import count_pairs
from budgetprune.report.measure.usage import usage_shares

from ..models import case


def test_usage_by_following_all_paths():
    forest, X = case("cancer").predictor.forest, case("cancer").X
    rows = forest.prepare_rows(X)
    is_counted = np.arange(forest.n_features) % 3 > 0
    expected = np.zeros(3)
    for leaves in forest.apply(rows):
        uses = np.zeros(forest.n_features)
        for h in leaves:
            while (h := forest.parent[h]) >= 0:
                uses[forest.feature[h]] += 1
        for k in np.flatnonzero(is_counted):
            expected[int(uses[k] > 0) + int(uses[k] > 7)] += 1
    np.testing.assert_allclose(usage_shares(forest, rows, is_counted), expected / expected.sum())


@pytest.mark.uncompiled
def test_usage_of_a_small_forest():
    """Two trees: one tests feature 0 twice on the way to its deepest leaves, the other is a leaf."""
    parent = np.array([-1, 0, 1, 1, 0, -1], dtype=np.int32)
    feature = np.array([0, 0, -1, -1, -1, -1], dtype=np.int32)
    leaf = np.array([[2, 5], [4, 5]], dtype=np.int32)
    is_counted = np.array([True, True, False])
    np.testing.assert_array_equal(count_pairs(leaf, parent, feature, is_counted), [[1, 1, 0], [1, 1, 0]])
    many = np.repeat(leaf[:, :1], 5, axis=1)  # five times the first tree: 10 tests, and 5
    np.testing.assert_array_equal(count_pairs(many, parent, feature, is_counted), [[1, 0, 1], [1, 1, 0]])
