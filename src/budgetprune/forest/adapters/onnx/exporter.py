"""Export to ONNX: a forest as a graph for onnxruntime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.labels import label_cut

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

# Old versions that most runtimes support, and that have values in double precision.
_OPSET, _ML_OPSET, _IR_VERSION = 15, 3, 8


def to_onnx(forest: Forest, name: str) -> ModelProto:
    """Write the trees as one TreeEnsembleRegressor, and link and label rule as ordinary operators.

    The operator computes in double precision, so that rows are routed and ties are broken as in the forest,
    and returns its sums in single precision.
    """
    _check_expressible(forest)

    sums = helper.make_node(
        "TreeEnsembleRegressor",
        ["rows"],
        ["sums"],
        domain="ai.onnx.ml",
        n_targets=forest.n_outputs,
        aggregate_function="SUM",
        **_splits(forest),
        **_answers(forest),
    )
    tail = _Tail()
    tail.add_outputs(forest)
    outputs = [
        helper.make_tensor_value_info(output, element, ["n_rows", *shape])
        for output, element, shape in tail.outputs
    ]
    graph = helper.make_graph(
        [helper.make_node("Cast", ["X"], ["rows"], to=TensorProto.DOUBLE), sums, *tail.nodes],
        name,
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n_rows", forest.n_features])],
        outputs,
        initializer=tail.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(
        graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="budgetprune"
    )
    checker.check_model(model)
    return model


def _check_expressible(forest: Forest) -> None:
    if np.any(forest.category_set >= 0):
        raise UnsupportedModelError(
            "some splits of this forest are by category, for which ONNX has no operator that runtimes "
            "commonly support; one-hot encode the categories before training."
        )
    if forest.missing == "nan-or-zero":
        raise UnsupportedModelError(
            "this forest treats zeros as missing values, which ONNX cannot express; train it with "
            "zero_as_missing=False."
        )


def _splits(forest: Forest) -> dict[str, Any]:
    """Attributes of the splits; nodes are numbered within their trees."""
    shift = forest.tree_start[forest.tree_of_node]
    missing_left = forest.missing_left if forest.missing == "nan" else np.zeros_like(forest.missing_left)
    return {
        "nodes_treeids": forest.tree_of_node,
        "nodes_nodeids": np.arange(forest.n_nodes) - shift,
        "nodes_featureids": np.where(forest.is_split, forest.feature, 0),
        "nodes_values_as_tensor": numpy_helper.from_array(
            np.where(forest.is_split, forest.threshold, 0.0), "nodes_values_as_tensor"
        ),
        "nodes_modes": np.where(forest.is_split, "BRANCH_LEQ", "LEAF").tolist(),
        "nodes_truenodeids": np.where(forest.is_split, forest.left - shift, 0),
        "nodes_falsenodeids": np.where(forest.is_split, forest.right - shift, 0),
        "nodes_missing_value_tracks_true": missing_left.astype(np.int64),
    }


def _answers(forest: Forest) -> dict[str, Any]:
    """Attributes of the leaves: their values and outputs."""
    leaf = np.flatnonzero(~forest.is_split)
    output = forest.tree_output[forest.tree_of_node[leaf]]
    feeds_all = output < 0
    repeats = np.where(feeds_all, forest.n_outputs, 1)
    entry = np.repeat(np.arange(leaf.size), repeats)  # one for each pair of a leaf and an output it feeds
    place = np.arange(entry.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    target = np.where(feeds_all[entry], place, output[entry])
    weights = forest.value[leaf[entry], place]
    number = leaf - forest.tree_start[forest.tree_of_node[leaf]]
    return {
        "target_treeids": forest.tree_of_node[leaf][entry],
        "target_nodeids": number[entry],
        "target_ids": target,
        "target_weights_as_tensor": numpy_helper.from_array(weights, "target_weights_as_tensor"),
        "base_values_as_tensor": numpy_helper.from_array(forest.base.copy(), "base_values_as_tensor"),
    }


class _Tail:
    """Operators after the sums: divisor, link and label rule."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[tuple[str, int, list[int]]] = []

    def _apply(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def _constant(self, array: NDArray[Any], name: str) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add_outputs(self, forest: Forest) -> None:
        scores = "sums"
        if forest.divisor != 1.0:
            divisor = self._constant(np.asarray(forest.divisor, dtype=np.float32), "divisor")
            scores = self._apply("Div", ["sums", divisor], "scores")
        if forest.classes is None:
            self._apply("Exp" if forest.link == "exp" else "Identity", [scores], "variable")
            self.outputs = [("variable", TensorProto.FLOAT, [1])]
            return
        classes = self._constant(_plain_classes(forest.classes), "classes")
        element = self.constants[-1].data_type
        self._apply("Gather", [classes, self._label_number(forest)], "label", axis=0)
        self._add_probabilities(forest, scores)
        self.outputs = [
            ("label", element, []),
            ("probabilities", TensorProto.FLOAT, [forest.classes.size]),
        ]

    def _label_number(self, forest: Forest) -> str:
        if forest.link != "logistic":
            return self._apply("ArgMax", ["sums"], "label_number", axis=1, keepdims=0)
        cut = self._constant(np.asarray(label_cut(forest) * forest.divisor, dtype=np.float32), "cut")
        operator = "GreaterOrEqual" if forest.label_rule == "nonnegative" else "Greater"
        is_second = self._apply(operator, ["sums", cut], "is_second")
        number = self._apply("Cast", [is_second], "label_number_column", to=TensorProto.INT64)
        return self._apply("Squeeze", [number, self._constant(np.asarray([1]), "columns")], "label_number")

    def _add_probabilities(self, forest: Forest, scores: str) -> None:
        if forest.link == "softmax":
            self._apply("Softmax", [scores], "probabilities", axis=1)
        elif forest.link == "logistic":
            first = self._apply("Sigmoid", [self._apply("Neg", [scores], "negative_scores")], "first")
            second = self._apply("Sigmoid", [scores], "second")
            self._apply("Concat", [first, second], "probabilities", axis=1)
        else:
            self._apply("Identity", [scores], "probabilities")


def _plain_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels in a type that ONNX has: strings, 64-bit integers, or unchanged."""
    kind = classes.dtype.kind
    if kind in "iu":
        return classes.astype(np.int64)
    if kind in "fb":
        return classes
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise UnsupportedModelError(
        f"ONNX has no type for labels like {classes.tolist()[0]!r}; train with strings, numbers or bool."
    )
