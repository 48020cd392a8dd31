"""Importer for ONNX models with one tree operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import ModelProto, load_model_from_string

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapters.onnx.graph import TreeGraph, read_graph
from budgetprune.forest.adapters.onnx.splits import Splits, read_splits
from budgetprune.forest.adapters.onnx.sums import read_sums
from budgetprune.forest.damage import check_nodes, damaged
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology import in_preorder
from budgetprune.forest.topology_kernels import mean_of_leaves


def from_file(file: str | Path) -> Forest:
    """Convert a model file."""
    if Path(file).suffix.lower() != ".onnx":
        raise InvalidInputError(
            f"Forest.from_model reads .onnx files, not {str(file)!r}; load the model with the library that "
            "wrote it, or use prune_model, which reads the files of all supported libraries."
        )
    return from_bytes(Path(file).read_bytes())


def from_bytes(content: bytes) -> Forest:
    """Convert a serialised model."""
    try:
        model = load_model_from_string(content)
    except DecodeError as error:
        raise damaged(f"it is not an ONNX model ({error})") from error
    return from_onnx(model)


def from_onnx(model: ModelProto) -> Forest:
    """Convert a model with one tree operator, with the semantics of onnxruntime.

    ONNX records neither training weights nor values of inner nodes: weights are 0 (unknown), and an inner
    node gets the mean of its children. `Forest.with_weights_of` replaces both by those of rows.
    """
    graph = read_graph(model.graph)
    columns, nodes = graph.columns, graph.ensemble.nodes
    splits = read_splits(nodes, graph.ensemble.members, graph.compared)
    sums = read_sums(graph)
    if sums.tree_round is not None:
        splits = splits.take_trees(np.argsort(sums.tree_round, kind="stable"))
    order, parent, left, right = in_preorder(splits.tree_start, splits.left, splits.right)
    is_split, node = left >= 0, splits.node[order]
    weight = np.zeros(order.size)
    return Forest(
        tree_start=splits.tree_start,
        parent=parent,
        left=left,
        right=right,
        feature=np.where(is_split, nodes.feature[node], -1),
        threshold=splits.threshold[order],
        missing_left=splits.missing_left[order],
        category_set=splits.category_set[order],
        category_start=splits.category_start,
        category_bits=splits.category_bits,
        value=mean_of_leaves(right, sums.value[node], weight),
        weight=weight,
        class_weight=None,
        variance=None,
        tree_output=_sorted(sums.tree_output, sums.tree_round),
        base=sums.base,
        divisor=sums.divisor,
        link=sums.link,
        label_rule=sums.label_rule,
        label_dtype=sums.label_dtype,
        classes=graph.outputs.classes,
        n_features=_n_features(graph, splits),
        feature_names=columns.names,
        # An operator for doubles may read columns that were rounded before.
        input_dtype=np.dtype(np.float32) if columns.precision == np.float32 else graph.compared,
        missing="forbidden" if columns.precision is None else "nan",
        origin=model,
        origin_node=(node - nodes.tree_start[nodes.tree[node]]).astype(np.int32),
        loss=sums.loss,
        tree_round=None if sums.tree_round is None else np.sort(sums.tree_round).astype(np.int32),
    )


def _sorted(of_trees: NDArray[np.int32], tree_round: NDArray[np.int64] | None) -> NDArray[np.int32]:
    return of_trees if tree_round is None else of_trees[np.argsort(tree_round, kind="stable")]


def _n_features(graph: TreeGraph, splits: Splits) -> int:
    """Number of columns; those that no split tests are not known if the graph does not fix its width."""
    feature = graph.ensemble.nodes.feature[splits.node]
    is_split = splits.left >= 0
    largest = int(feature[is_split].max(initial=0))
    n_features = graph.columns.width or largest + 1
    check_nodes(
        splits.tree_start,
        ~is_split | (feature < n_features),
        f"splits by the feature {{}}, but there are {n_features}",
        feature,
    )
    return n_features
