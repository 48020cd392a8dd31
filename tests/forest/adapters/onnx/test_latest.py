"""The tree operator of ai.onnx.ml 5."""

from __future__ import annotations

import numpy as np
import pytest

from ..refusals import refuse
from .models import ROWS, check, latest, steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("mode", range(4))
def test_latest_comparisons(mode, missing, dtype):
    model = latest(dtype, nodes_modes=[mode], nodes_splits=[0.1], nodes_missing_value_tracks_true=[missing])
    forest = check(model, steps(0.1, dtype))
    assert forest.input_dtype == dtype


@pytest.mark.parametrize("missing", [0, 1])
def test_latest_sets(missing):
    model = latest(
        tree_roots=[0, 1],
        nodes_modes=[6, 6, 5],
        nodes_splits=[0.0, 0.0, 3.0],
        nodes_featureids=[0, 0, 0],
        nodes_truenodeids=[0, 1, 2],
        nodes_trueleafs=[1, 1, 1],
        nodes_falsenodeids=[1, 2, 0],
        nodes_falseleafs=[1, 0, 1],
        nodes_missing_value_tracks_true=[missing, 0, missing],
        membership_values=[1, 2, 70, np.nan, 0, np.nan],
        leaf_targetids=[0, 0, 0],
        leaf_weights=[1.0, 2.0, 4.0],
    )
    forest = check(model, np.array([-1, 0, 1, 2, 3, 4, 70, 71, 1000, np.nan])[:, np.newaxis])
    assert forest.n_trees == 2
    assert (forest.category_set >= 0).sum() == 3


def test_latest_trees_share_leaves_or_are_one():
    model = latest(
        tree_roots=[0, 1, 2],
        nodes_modes=[0, 0, 0],
        nodes_splits=[0.0, 0.5, 1.0],
        nodes_featureids=[0, 0, 0],
        nodes_truenodeids=[0, 1, 1],
        nodes_trueleafs=[1, 1, 1],
        nodes_falsenodeids=[1, 1, 0],
        nodes_falseleafs=[1, 1, 1],
        aggregate_function=0,
    )
    forest = check(model, ROWS)
    assert np.diff(forest.tree_start).tolist() == [3, 1, 3]
    assert forest.divisor == 3


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"tree_roots": [1]}, "roots that do not exist"),
        ({"tree_roots": [0, 0]}, "reached from roots in several ways"),
        ({"nodes_trueleafs": [0]}, "reached from roots in several ways"),
        ({"nodes_truenodeids": [7]}, "children that do not exist"),
        ({"nodes_modes": [9]}, "splits of an unknown kind"),
        ({"nodes_modes": [6]}, "1 splits by membership, but not as many sets"),
        ({"nodes_splits": [0.5, 1.5]}, "lists of splits, or of leaves, differ in length"),
        ({"aggregate_function": 8}, "unknown aggregate_function 8"),
    ],
)
def test_damaged_trees_of_the_latest_operator(attributes, words):
    refuse(latest(**attributes), words)
