"""Tests of ONNX nodes: rows on thresholds, missing values, categories."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from budgetprune.forest import Forest

from ..refusals import refuse
from .models import change, check, classifier, graph_of, regressor, run, steps, stump, trees

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
EXTREME = [0.5, -0.0, 0.0, 1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf]


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("value", EXTREME)
@pytest.mark.parametrize("mode", MODES)
def test_comparisons(mode, value, missing):
    check(regressor(stump(mode, value, missing)), steps(value))


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("mode", ["BRANCH_EQ", "BRANCH_NEQ"])
def test_equality(mode, missing):
    rows = np.array([-1, 0, 1, 2, 3, 35, np.nan])[:, np.newaxis]
    for value in (0.0, 2.0, 35.0):
        forest = check(regressor(stump(mode, value, missing)), rows)
        assert forest.category_set[0] == 0


def test_comparisons_of_doubles():
    for mode in MODES:
        attributes = {
            "nodes_values_as_tensor": numpy_helper.from_array(np.array([0.1, 0.0, 0.0])),
            "target_weights_as_tensor": numpy_helper.from_array(np.array([1 / 3, -1 / 3])),
        }
        node = trees(nodes=stump(mode))
        change(node, nodes_values=None, target_weights=None, **attributes)
        outputs = [("sums", TensorProto.FLOAT, [None, 1])]
        model = graph_of([node], outputs, element=TensorProto.DOUBLE)
        forest = check(model, steps(0.1, np.float64))
        assert forest.input_dtype == np.float64
        assert forest.threshold[0] in (0.1, np.nextafter(0.1, 0))
        # Columns that were rounded on the way to the same operator.
        node.input[0] = "rows"
        cast = helper.make_node("Cast", ["X"], ["rows"], to=TensorProto.DOUBLE)
        forest = check(graph_of([cast, node], outputs), steps(0.1))
        assert forest.input_dtype == np.float32


def test_whole_numbers():
    """They are compared in single precision, with a Cast or without one."""
    rows = np.array([[0], [2**24 - 1], [2**24], [2**24 + 1], [2**24 + 2]])
    cast = helper.make_node("Cast", ["X"], ["rows"], to=TensorProto.FLOAT)
    outputs = [("sums", TensorProto.FLOAT, [None, 1])]
    nodes = stump("BRANCH_LEQ", 2**24)
    model = graph_of([cast, trees(nodes=nodes, rows="rows")], outputs, element=TensorProto.INT64)
    forest = Forest.from_model(model)
    assert forest.missing == "forbidden" or forest.input_dtype == np.float32
    np.testing.assert_allclose(forest.predict(rows), run(model, rows)[0].ravel(), rtol=1e-6)
    model = classifier([0, 1], nodes, leaves={1: [0.3], 2: [0.8]})
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    forest = Forest.from_model(model)
    assert forest.missing == "forbidden"
    np.testing.assert_array_equal(forest.predict(rows), run(model, rows)[0])


def test_trees_and_nodes_may_have_any_numbers_and_order():
    nodes = {
        "treeids": [7, 7, 7, 2, 2, 2],
        "nodeids": [5, 3, 1, 0, 2, 1],
        "featureids": [0, 0, 0, 1, 0, 0],
        "modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
        "values": [0.5, 0, 0, -1.0, 0, 0],
        "truenodeids": [1, 0, 0, 2, 0, 0],
        "falsenodeids": [3, 0, 0, 1, 0, 0],
        "missing_value_tracks_true": [0] * 6,
    }
    node = trees(nodes=nodes, leaves={1: [0.25]})
    change(
        node,
        target_treeids=[7, 7, 2, 2],
        target_nodeids=[1, 3, 1, 2],
        target_ids=[0] * 4,
        target_weights=[1.0, 2.0, 4.0, 8.0],
    )
    model = graph_of([node], [("sums", TensorProto.FLOAT, [None, 1])], n_features=2)
    forest = check(model, np.array([[0, 0], [1, 0], [0, -2], [1, -2], [np.nan, np.nan]]))
    np.testing.assert_array_equal(forest.origin_node, [0, 2, 1, 0, 2, 1])


def test_shared_nodes_are_refused():
    """Only chains of tests for equality may share a node."""
    nodes = {
        "treeids": [0] * 4,
        "nodeids": [0, 1, 2, 3],
        "featureids": [0, 0, 0, 0],
        "modes": ["BRANCH_EQ", "BRANCH_EQ", "LEAF", "LEAF"],
        "values": [1, 2, 0, 0],
        "truenodeids": [2, 2, 0, 0],
        "falsenodeids": [1, 3, 0, 0],
        "missing_value_tracks_true": [0, 0, 0, 0],
    }
    rows = np.array([0, 1, 2, 3, np.nan])[:, np.newaxis]
    for missing in ([0, 0, 0, 0], [1, 1, 0, 0]):
        own = nodes | {"missing_value_tracks_true": missing}
        forest = check(regressor(own, leaves={2: [1.0], 3: [2.0]}), rows)
        assert forest.n_splits == 1
    own = nodes | {"missing_value_tracks_true": [0, 1, 0, 0]}
    refuse(regressor(own, leaves={2: [1.0], 3: [2.0]}), "child of 2 splits")
    refuse(regressor(nodes | {"featureids": [0, 1, 0, 0]}, leaves={2: [1.0], 3: [2.0]}), "child of 2 splits")
    refuse(regressor(nodes | {"falsenodeids": [1, 0, 0, 0]}, leaves={2: [1.0], 3: [2.0]}), "right child 0")
