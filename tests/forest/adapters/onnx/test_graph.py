"""Sums of ONNX trees, and the operators around them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.ensemble import BaggingRegressor, GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest

from ...conftest import labels, training_rows
from .models import (
    MIXED,
    ROWS,
    STUMP,
    THREE,
    change,
    check,
    classifier,
    graph_of,
    latest,
    latest_node,
    regressor,
    run,
    stump,
    trees,
)


@pytest.mark.parametrize("labels_", [[3, 7], ["a", "b"]])
@pytest.mark.parametrize(
    ("leaves", "attributes", "link"),
    [
        ({1: [0.3], 2: [0.8]}, {}, "identity"),
        ({1: [0.3], 2: [0.8]}, {"base_values": [0.1]}, "identity"),
        ({1: [-0.3], 2: [0.8]}, {"post_transform": "LOGISTIC"}, "logistic"),
        ({1: [-0.3], 2: [0.8]}, {"post_transform": "LOGISTIC", "base_values": [-1.0]}, "logistic"),
    ],
)
def test_two_classes(labels_, leaves, attributes, link):
    forest = check(classifier(labels_, leaves=leaves, **attributes), ROWS)
    assert forest.link == link
    assert forest.classes.tolist() == labels_


@pytest.mark.parametrize(
    ("leaves", "attributes", "link"),
    [
        (THREE, {}, "identity"),
        (THREE, {"base_values": [0.0, 0.1, 0.4]}, "identity"),
        (MIXED, {"post_transform": "SOFTMAX"}, "softmax"),
        (MIXED, {"post_transform": "SOFTMAX", "base_values": [1.0, 1.5, 0.5]}, "softmax"),
    ],
)
def test_three_classes(leaves, attributes, link):
    forest = check(classifier(["x", "y", "z"], leaves=leaves, **attributes), ROWS)
    assert forest.link == link


def test_averages():
    two_trees = {name: entries * 2 for name, entries in STUMP.items()} | {"treeids": [0] * 3 + [1] * 3}
    forest = check(regressor(two_trees, aggregate_function="AVERAGE"), ROWS)
    assert not forest.is_boosted
    assert forest.divisor == 2
    forest = check(regressor(two_trees, aggregate_function="AVERAGE", base_values=[2.0]), ROWS)
    np.testing.assert_allclose(forest.value[[1, 2], 0], [1.7, 2.8])  # each tree is an estimate


def graph_with_tail(*nodes, leaves=None, outputs=("answer",), constants=None, **attributes):
    node = trees(leaves=leaves, **attributes)
    kinds = {"label": TensorProto.INT64}
    made = [(name, kinds.get(name, TensorProto.FLOAT), None) for name in outputs]
    arrays = {name: np.asarray(array) for name, array in (constants or {}).items()}
    return graph_of([node, *nodes], made, constants=arrays)


def test_arithmetic_after_the_trees():
    nodes = [
        helper.make_node("Mul", ["sums", "c"], ["m"]),
        helper.make_node("Add", ["d", "m"], ["a"]),
        helper.make_node("Sub", ["a", "c"], ["s"]),
        helper.make_node("Exp", ["s"], ["e"]),
        helper.make_node("Mul", ["e", "d"], ["answer"]),
    ]
    constants = {"c": np.float32(0.5), "d": np.array([3.0], dtype=np.float32)}
    forest = check(graph_with_tail(*nodes, constants=constants), ROWS, 1e-5)
    assert (forest.link, forest.loss) == ("exp", "poisson")


def test_probabilities_of_operators():
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([5, 6, 7]))),
        helper.make_node("Softmax", ["sums"], ["answer"], axis=1),
        helper.make_node("ArgMax", ["answer"], ["number"], axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["c", "number"], ["found"], domain="ai.onnx.ml"),
        helper.make_node("Flatten", ["found"], ["label"]),
    ]
    model = graph_with_tail(*nodes, leaves=MIXED, outputs=("label", "answer"))
    forest = Forest.from_model(model)
    label, probabilities = run(model, ROWS.astype(np.float32))
    np.testing.assert_allclose(forest.predict_proba(ROWS), probabilities, atol=1e-6)
    np.testing.assert_array_equal(forest.predict(ROWS), label.ravel())


def test_labels_alone_are_those_of_shares():
    model = graph_with_tail(
        helper.make_node("ArgMax", ["sums"], ["label"], axis=1, keepdims=0), leaves=THREE, outputs=("label",)
    )
    forest = Forest.from_model(model)
    assert forest.link == "identity"
    np.testing.assert_array_equal(forest.predict(ROWS), run(model, ROWS.astype(np.float32))[0])


def test_trees_are_sorted_by_round():
    """All trees of a class, and then those of the next one."""
    n = 3
    nodes = {name: entries * 2 * n for name, entries in STUMP.items()}
    nodes["treeids"] = np.repeat(np.arange(2 * n), 3).tolist()
    nodes["values"] = np.arange(6 * n).tolist()
    node = trees("TreeEnsembleClassifier", nodes, outputs=("label", "p"), classlabels_int64s=[0, 1, 2])
    output = np.repeat([0, 1, 2], 4).tolist()
    weights = np.random.default_rng(0).normal(size=12).tolist()
    change(node, class_ids=output, class_weights=weights, post_transform="SOFTMAX")
    outputs = [("label", TensorProto.INT64, [None]), ("p", TensorProto.FLOAT, [None, 3])]
    forest = check(graph_of([node], outputs), np.arange(-1, 19)[:, np.newaxis])
    np.testing.assert_array_equal(forest.tree_output, [0, 1, 2, 0, 1, 2])
    np.testing.assert_array_equal(forest.tree_round, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(forest.threshold[::3], [0, 6, 12, 3, 9, 15])


def sigmoid_of_sums():
    return graph_with_tail(helper.make_node("Sigmoid", ["sums"], ["answer"]))


REFUSED = {
    "the MAX of its trees": lambda: regressor(aggregate_function="MAX"),
    "1 output.s. and post_transform=LOGISTIC": lambda: regressor(post_transform="LOGISTIC"),
    "3 output.s. and post_transform=PROBIT": lambda: regressor(leaves=THREE, post_transform="PROBIT"),
    "3 targets at once": lambda: regressor(leaves=THREE),
    "3 classes and post_transform=LOGISTIC": lambda: classifier(
        [0, 1, 2], leaves=THREE, post_transform="LOGISTIC"
    ),
    "a single class": lambda: classifier([4], leaves={1: [1.0], 2: [1.0]}),
    "weights or base_values for both": lambda: classifier([0, 1], leaves={1: [0.2, 0.8], 2: [0.5, 0.5]}),
    "without the option raw_scores": lambda: classifier([0, 1], leaves={1: [-0.2], 2: [0.5]}),
    "have no weight for some classes": lambda: classifier(
        [0, 1, 2], leaves={1: [-0.2], 2: [-0.5]}, ids=[1], post_transform="SOFTMAX"
    ),
    "TreeEnsemble of this ONNX model has a post_transform": lambda: latest(post_transform=1),
    "feature 0 equals 0.5": lambda: regressor(stump("BRANCH_EQ", 0.5)),
    "feature 0 equals -3": lambda: regressor(stump("BRANCH_NEQ", -3)),
    "feature 0 equals 1e.09": lambda: regressor(stump("BRANCH_EQ", 1e9)),
    "has 0 operators for trees": lambda: graph_of(
        [helper.make_node("Identity", ["X"], ["sums"])], [("sums", TensorProto.FLOAT, [None, 1])]
    ),
    "none is the answer": sigmoid_of_sums,
    "is made by Sin": lambda: graph_with_tail(helper.make_node("Sin", ["sums"], ["answer"])),
    "is made by my.Neg": lambda: graph_with_tail(helper.make_node("Neg", ["sums"], ["answer"], domain="my")),
    "negates the sums": lambda: graph_with_tail(helper.make_node("Neg", ["sums"], ["answer"])),
    "stands the missing tensor 'Y'": lambda: graph_of(
        [trees(rows="Y")], [("sums", TensorProto.FLOAT, [None, 1])]
    ),
    "stands the input 'X' of type STRING": lambda: graph_of(
        [trees()], [("sums", TensorProto.FLOAT, [None, 1])], element=TensorProto.STRING
    ),
    "stands Abs": lambda: graph_of(
        [helper.make_node("Abs", ["X"], ["Y"]), trees(rows="Y")], [("sums", TensorProto.FLOAT, [None, 1])]
    ),
    "has attributes that budgetprune does not know .nodes_colour": lambda: regressor(nodes_colour=[1]),
    "second of two classes to scores above 0.3": lambda: graph_with_tail(
        helper.make_node("Greater", ["sums", "c"], ["is_second"]),
        helper.make_node("Cast", ["is_second"], ["label"], to=TensorProto.INT64),
        helper.make_node("Neg", ["sums"], ["negative"]),
        helper.make_node("Sigmoid", ["negative"], ["first"]),
        helper.make_node("Sigmoid", ["sums"], ["second"]),
        helper.make_node("Concat", ["first", "second"], ["p"], axis=1),
        outputs=("label", "p"),
        constants={"c": np.float32(0.3)},
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    with pytest.raises(UnsupportedModelError, match=words):
        Forest.from_model(REFUSED[words]())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BaggingRegressor(n_estimators=2), "2 operators for trees"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(2)), "stands Scaler"),
        (GradientBoostingClassifier(n_estimators=2, loss="exponential"), "gives no probabilities"),
    ],
)
def test_what_converters_write_and_a_forest_lacks(model, words):
    X = training_rows()
    made = to_onnx(model.fit(X, labels(X, 2)), X[:1].astype(np.float32))
    with pytest.raises(UnsupportedModelError, match=words):
        Forest.from_model(made)


def test_a_single_column_has_no_name():
    assert Forest.from_model(regressor()).feature_names is None
    assert latest_node().op_type == "TreeEnsemble"
