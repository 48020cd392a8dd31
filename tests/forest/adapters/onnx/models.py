"""ONNX models with one tree operator, made by hand, and the runtime that is their oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper

from budgetprune.forest import Forest

onnxruntime.set_default_logger_severity(4)

STUMP = {
    "treeids": [0, 0, 0],
    "nodeids": [0, 1, 2],
    "featureids": [0, 0, 0],
    "modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "values": [0.5, 0.0, 0.0],
    "truenodeids": [1, 0, 0],
    "falsenodeids": [2, 0, 0],
    "missing_value_tracks_true": [0, 0, 0],
}


# Weights of the leaves of a stump for three outputs, and rows that go to all of its sides.
THREE = {1: [0.2, 0.3, 0.5], 2: [0.6, 0.1, 0.3]}
MIXED = {1: [0.2, -0.3, 0.5], 2: [-0.6, 0.1, 0.3]}
ROWS = np.array([[0.0], [1.0], [0.5], [np.nan]])


def stump(mode: str = "BRANCH_LEQ", value: float = 0.5, missing: int = 0) -> dict[str, Any]:
    return STUMP | {
        "modes": [mode, "LEAF", "LEAF"],
        "values": [value, 0.0, 0.0],
        "missing_value_tracks_true": [missing, 0, 0],
    }


def graph_of(
    nodes: list[Any],
    outputs: list[tuple[str, int, list[Any]]],
    *,
    n_features: int | None = 1,
    element: int = TensorProto.FLOAT,
    ml_opset: int = 3,
    constants: dict[str, np.ndarray] | None = None,
    inputs: dict[str, int] | None = None,
) -> ModelProto:
    """A model whose input is X, or one column for each of `inputs`."""
    graph = helper.make_graph(
        nodes,
        "trees",
        [
            helper.make_tensor_value_info(name, element, [None, width])
            for name, width in (inputs or {"X": n_features}).items()
        ],
        [helper.make_tensor_value_info(*output) for output in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", ml_opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def trees(
    operator: str = "TreeEnsembleRegressor",
    nodes: dict[str, Any] = STUMP,
    *,
    leaves: dict[int, list[float]] | None = None,
    ids: list[int] | None = None,
    rows: str = "X",
    outputs: tuple[str, ...] = ("sums",),
    **attributes: Any,
) -> Any:
    """A tree operator up to ai.onnx.ml 3; `leaves` has the weights of each leaf of each tree."""
    prefix = "class" if operator == "TreeEnsembleClassifier" else "target"
    leaves = {1: [-0.3], 2: [0.8]} if leaves is None else leaves
    entries = [
        (tree, node, output, weight)
        for tree in sorted(set(nodes["treeids"]))
        for node, weights in leaves.items()
        for output, weight in zip(ids or range(len(weights)), weights, strict=True)
    ]
    if prefix == "target":
        attributes = {"n_targets": max(map(len, leaves.values()))} | attributes
    return helper.make_node(
        operator,
        [rows],
        list(outputs),
        domain="ai.onnx.ml",
        **{f"nodes_{name}": entry for name, entry in nodes.items() if name != "values"},
        nodes_values=list(map(float, nodes["values"])),
        **{
            f"{prefix}_{name}": list(column)
            for name, column in zip(
                ("treeids", "nodeids", "ids", "weights"), zip(*entries, strict=True), strict=True
            )
        },
        **attributes,
    )


def change(node: Any, **attributes: Any) -> None:
    """Replace attributes of a node; None removes one."""
    kept = [one for one in node.attribute if one.name not in attributes]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.extend(
        helper.make_attribute(name, value) for name, value in attributes.items() if value is not None
    )


def regressor(nodes: dict[str, Any] = STUMP, **attributes: Any) -> ModelProto:
    n_targets = attributes.get("n_targets", max(map(len, attributes.get("leaves", {0: [0]}).values())))
    return graph_of([trees(nodes=nodes, **attributes)], [("sums", TensorProto.FLOAT, [None, n_targets])])


def classifier(labels: list[Any], nodes: dict[str, Any] = STUMP, **attributes: Any) -> ModelProto:
    is_text = isinstance(labels[0], str)
    node = trees(
        "TreeEnsembleClassifier",
        nodes,
        outputs=("label", "probabilities"),
        **{"classlabels_strings" if is_text else "classlabels_int64s": labels},
        **attributes,
    )
    outputs = [
        ("label", TensorProto.STRING if is_text else TensorProto.INT64, [None]),
        ("probabilities", TensorProto.FLOAT, [None, len(labels)]),
    ]
    return graph_of([node], outputs)


SPLIT = {
    "tree_roots": [0],
    "nodes_modes": [0],
    "nodes_splits": [0.5],
    "nodes_featureids": [0],
    "nodes_truenodeids": [0],
    "nodes_trueleafs": [1],
    "nodes_falsenodeids": [1],
    "nodes_falseleafs": [1],
    "leaf_targetids": [0, 0],
    "leaf_weights": [-0.3, 0.8],
}


def latest_node(dtype: Any = np.float32, **attributes: Any) -> Any:
    """The tree operator of ai.onnx.ml 5."""
    attributes = {"n_targets": 1} | SPLIT | attributes
    for name, kind in (
        ("nodes_modes", np.uint8),
        ("nodes_splits", dtype),
        ("leaf_weights", dtype),
        ("membership_values", dtype),
    ):
        if name in attributes:
            attributes[name] = numpy_helper.from_array(np.array(attributes[name], dtype=kind), name)
    return helper.make_node("TreeEnsemble", ["X"], ["sums"], domain="ai.onnx.ml", **attributes)


def latest(dtype: Any = np.float32, **attributes: Any) -> ModelProto:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return graph_of(
        [latest_node(dtype, **attributes)],
        [("sums", element, [None, attributes.get("n_targets", 1)])],
        element=element,
        ml_opset=5,
    )


def run(model: ModelProto, rows: np.ndarray) -> list[Any]:
    """What onnxruntime returns; a ZipMap's mappings become columns in the order of their keys."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [one.name for one in session.get_inputs()]
    feed = {"": rows} if not names else {names[0]: rows}
    if len(names) > 1:
        feed = {name: rows[:, [k]] for k, name in enumerate(names)}
    outputs = session.run(None, feed)
    if len(outputs) > 2:  # a column for each class
        outputs = [outputs[0], np.column_stack(outputs[1:])]
    return [
        np.array([[row[key] for key in sorted(row)] for row in output])
        if isinstance(output, list)
        else output
        for output in outputs
    ]


def steps(value: float, dtype: type = np.float32) -> np.ndarray:
    """A column with a value, its neighbours, and values that are special."""
    x = dtype(np.clip(value, np.finfo(dtype).min / 2, np.finfo(dtype).max / 2))
    near = [np.nextafter(x, dtype(-1)), x, np.nextafter(x, dtype(1)), -1, 0.0, -0.0, 1, 3e38, -3e38, np.nan]
    return np.array(near, dtype=dtype)[:, np.newaxis]


def check(model: ModelProto, rows: np.ndarray, tolerance: float = 1e-6) -> Forest:
    """Compare a forest with the runtime: labels may differ only where single precision has a tie."""
    forest = Forest.from_model(model)
    rows = rows.astype(np.float64 if forest.input_dtype == np.float64 else np.float32)
    outputs = run(model, rows)
    if forest.classes is None:
        own = outputs[0].ravel()
        np.testing.assert_allclose(
            forest.predict(rows), own, rtol=0, atol=tolerance * (1 + np.abs(own).max())
        )
        return forest
    probabilities = forest.predict_proba(rows)
    np.testing.assert_allclose(probabilities, outputs[1], rtol=0, atol=tolerance)
    top = np.sort(np.column_stack([probabilities, np.zeros(len(rows))]), axis=1)
    is_clear = top[:, -1] - top[:, -2] > 10 * tolerance
    assert is_clear.any()
    np.testing.assert_array_equal(forest.predict(rows)[is_clear], outputs[0][is_clear])
    return forest
