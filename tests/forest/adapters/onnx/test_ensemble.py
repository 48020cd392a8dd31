"""Damaged trees of the operators up to ai.onnx.ml 3 are refused, naming the tree and the node."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from ..refusals import refuse
from .models import STUMP, change, graph_of, regressor, trees

DAMAGED = {
    "node 0 of tree 0 has the true child 9, which is not in its tree": {"truenodeids": [9, 0, 0]},
    "node 1 of tree 0 is the child of 2 splits": {"falsenodeids": [1, 0, 0]},
    "left child 0, which is not a node below it": {"truenodeids": [0, 0, 0]},
    "node 0 of tree 0 splits by the feature -1": {"featureids": [-1, 0, 0]},
    "node 0 of tree 0 splits by the feature 5, but there are 1": {"featureids": [5, 0, 0]},
    "nodes of unknown kinds": {"modes": ["BRANCH", "LEAF", "LEAF"]},
    "3 nodes, but not as many nodes_featureids": {"featureids": [0]},
    "nodes_missing_value_tracks_true": {"missing_value_tracks_true": [0]},
    "node 2 of tree 0 has the number 1, as another node": {"nodeids": [0, 1, 1]},
    "are not listed one after the other": {"treeids": [0, 1, 0]},
    "threshold must not be NaN at splits": {"values": [np.nan, 0.0, 0.0]},
    "weights of leaves that do not exist": {
        "nodeids": [0, 3, 4],
        "truenodeids": [3, 0, 0],
        "falsenodeids": [4, 0, 0],
    },
}


@pytest.mark.parametrize("words", DAMAGED)
def test_damaged_nodes(words):
    node = trees(nodes=STUMP | {"treeids": [0, 0, 0]})
    change(node, **{f"nodes_{name}": value for name, value in DAMAGED[words].items()})
    refuse(graph_of([node], [("sums", TensorProto.FLOAT, [None, 1])]), words)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"base_values": [1.0, 2.0]}, "2 base values for 1 outputs"),
        ({"n_targets": 0}, "contribute to outputs that do not exist"),
        ({"ids": [4]}, "contribute to outputs that do not exist: there are 1"),
        ({"post_transform": [1]}, "the attribute post_transform of TreeEnsembleRegressor has the wrong type"),
    ],
)
def test_damaged_sums(attributes, words):
    refuse(regressor(**attributes), words)
