"""Bounds of leaf values below nodes, and of probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from budgetprune.predictor.bounds_kernels import between, distinct_bounds, softmax_bounds

from .forests import random_forest
from .oracles import leaves_below

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1e3, 1e6])
def test_softmax_bounds(scale):
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 6):
        own, others = scale * rng.normal(size=(2, n_classes))
        expected = [expit(own[k] - logsumexp(np.delete(others, k))) for k in range(n_classes)]
        rounding = 1e-15 * (8 + 4 * np.abs([own, others]).max())
        np.testing.assert_allclose(softmax_bounds(own, others), expected, rtol=rounding, atol=1e-300)


def test_the_only_class_is_certain():
    assert softmax_bounds(np.array([3.0]), np.array([-1.0])).tolist() == [1.0]


def test_between():
    lower, upper = np.array([0.2, 0.0, 0.1]), np.array([0.5, 0.4, 0.2])
    moved = between(np.array([0.7, 0.2, 0.1]), lower, upper)
    assert np.all(lower <= moved)
    assert np.all(moved <= upper)
    np.testing.assert_allclose(moved, [0.5, 0.2 + 0.2 * 2 / 3, 0.1 + 0.2 / 3])
    inside = np.array([0.5, 0.35, 0.15])
    np.testing.assert_array_equal(between(inside, lower, upper), inside)


def test_distinct_bounds():
    """Each node's are those of its leaves, rounded outwards, and no bounds are stored twice."""
    rng = np.random.default_rng(0)
    for kind in ("averaged, three classes", "regression"):
        forest = random_forest(rng, kind, 4, 6, has_categories=False)
        value = rng.choice([-2.0, 0.0, 0.5, 2.0**30], forest.value.shape)
        number, bounds = distinct_bounds(forest.right, forest.is_split, value)
        for h in range(forest.n_nodes):
            leaves = value[leaves_below(forest, h)]
            assert bounds[number[h], 0].tolist() == np.floor(leaves.min(axis=0)).tolist()
            assert bounds[number[h], 1].tolist() == np.ceil(leaves.max(axis=0)).tolist()
        assert len(np.unique(bounds, axis=0)) == len(bounds)
