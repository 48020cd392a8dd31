"""Order of the nodes that steps of decisions read."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.predictor.tables import hot_paths, places

from .forests import random_forest

pytestmark = pytest.mark.uncompiled


def test_children_are_beside_each_other_and_the_heavier_path_is_contiguous():
    forest = random_forest(np.random.default_rng(0), "averaged, three classes", 5, 6, has_categories=False)
    split = hot_paths(forest)
    assert sorted(split.tolist()) == np.flatnonzero(forest.is_split).tolist()
    place, origin = places(forest, split)
    assert np.array_equal(origin[place], np.arange(forest.n_nodes))
    assert place[forest.tree_start[:-1]].tolist() == list(range(0, 2 * forest.n_trees, 2))
    left, right = split + 1, forest.right[split]
    assert np.all(place[left] % 2 == 0)
    assert np.array_equal(place[right], place[left] + 1)
    heavier = np.where(forest.weight[left] >= forest.weight[right], left, right)
    goes_on = forest.is_split[heavier]
    assert goes_on.any()
    assert np.array_equal(place[heavier[goes_on] + 1], place[left[goes_on]] + 2)
