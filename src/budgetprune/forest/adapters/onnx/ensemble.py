"""Trees of the operators TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from budgetprune.forest.adapters.onnx.attributes import Attributes
from budgetprune.forest.adapters.onnx.latest import read_latest
from budgetprune.forest.adapters.onnx.table import Ensemble, Members, Mode, Nodes, Votes, check_aggregation
from budgetprune.forest.damage import check_model, check_nodes

OPERATORS = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")

_MODES = {f"BRANCH_{mode.name}".encode(): mode for mode in Mode if mode < Mode.MEMBER} | {b"LEAF": Mode.LEAF}

_OF_NODES = (
    *("treeids", "nodeids", "featureids", "modes", "truenodeids", "falsenodeids"),
    *("values", "values_as_tensor", "missing_value_tracks_true", "hitrates", "hitrates_as_tensor"),
)
_OF_LEAVES = ("treeids", "nodeids", "ids", "weights", "weights_as_tensor")
_COMMON = {
    *(f"nodes_{name}" for name in _OF_NODES),
    "base_values",
    "base_values_as_tensor",
    "post_transform",
    "aggregate_function",
}
_OWN = {
    "class": {"classlabels_int64s", "classlabels_strings"},
    "target": {"n_targets"},
}


def read_ensemble(node: NodeProto) -> Ensemble:
    """Read a tree operator of any version; raise if it adds up leaves in an unsupported way."""
    ensemble = read_latest(node) if node.op_type == "TreeEnsemble" else _read(node)
    nodes, votes = ensemble.nodes, ensemble.votes
    start = nodes.tree_start
    is_known = (nodes.mode == Mode.LEAF) | (nodes.feature >= 0)
    check_nodes(start, is_known, "splits by the feature {}, which does not exist", nodes.feature)
    check_model(
        ensemble.n_outputs >= 1 and bool(np.all((votes.output >= 0) & (votes.output < ensemble.n_outputs))),
        f"leaves contribute to outputs that do not exist: there are {ensemble.n_outputs}",
    )
    check_model(
        ensemble.base.size in (0, ensemble.n_outputs)
        or (ensemble.labels is not None and ensemble.n_outputs == 2 and ensemble.base.size == 1),
        f"it has {ensemble.base.size} base values for {ensemble.n_outputs} outputs",
    )
    return ensemble


# --- ai.onnx.ml 1 to 3 --------------------------------------------------------------------------------------


def _read(node: NodeProto) -> Ensemble:
    prefix = "class" if node.op_type == "TreeEnsembleClassifier" else "target"
    known = _COMMON | _OWN[prefix] | {f"{prefix}_{name}" for name in _OF_LEAVES}
    attributes = Attributes(node, frozenset(known))
    tree_id, node_id = attributes.integers("nodes_treeids"), attributes.integers("nodes_nodeids")
    start = _tree_starts(tree_id)
    n_nodes = tree_id.size
    if_true, if_false = attributes.integers("nodes_truenodeids"), attributes.integers("nodes_falsenodeids")
    feature, modes = attributes.integers("nodes_featureids"), _modes(attributes.words("nodes_modes"))
    operand = attributes.numbers("nodes_values")
    missing = attributes.integers("nodes_missing_value_tracks_true")
    per_node = {
        "nodeids": node_id,
        "featureids": feature,
        "modes": modes,
        "truenodeids": if_true,
        "falsenodeids": if_false,
        "values": operand,
    }
    odd = [f"nodes_{name}" for name, entries in per_node.items() if entries.size != n_nodes]
    odd += ["nodes_missing_value_tracks_true"] if missing.size not in (0, n_nodes) else []
    check_model(not odd, f"it has {n_nodes} nodes, but not as many {', '.join(odd)}")
    numbering = _Numbering(start, tree_id[start[:-1]], node_id)
    is_split = modes != Mode.LEAF

    def children(side: str, child: NDArray[np.int64]) -> NDArray[np.int64]:
        place, is_known = numbering.find(tree_id, child)
        check_nodes(
            start, is_known | ~is_split, f"has the {side} child {{}}, which is not in its tree", child
        )
        return np.where(is_split, place - np.repeat(start[:-1], np.diff(start)), -1)

    nodes = Nodes(
        start,
        children("true", if_true),
        children("false", if_false),
        feature,
        modes,
        operand,
        missing != 0 if missing.size else np.zeros(n_nodes, dtype=np.bool_),
    )
    by_value = np.flatnonzero((modes == Mode.EQ) | (modes == Mode.NEQ))
    labels = _labels(attributes) if prefix == "class" else None
    return Ensemble(
        nodes,
        Members(by_value, operand[by_value]),
        _votes(attributes, prefix, numbering, is_split),
        attributes.integer("n_targets", 1) if labels is None else labels.size,
        attributes.numbers("base_values"),
        check_aggregation(attributes.string("aggregate_function", "SUM")),
        attributes.string("post_transform", "NONE"),
        labels,
    )


def _tree_starts(tree_id: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of the trees: each is a run of nodes with the same id, and the first one is its root."""
    check_model(tree_id.size > 0, "it has no nodes")
    start = np.concatenate([[0], np.flatnonzero(np.diff(tree_id)) + 1, [tree_id.size]])
    first = tree_id[start[:-1]]
    check_model(
        np.unique(first).size == first.size,
        "the nodes of a tree are not listed one after the other",
    )
    return start


class _Numbering:
    """Positions of nodes by the numbers of their trees and their own."""

    def __init__(
        self, start: NDArray[np.int64], ids_of_trees: NDArray[np.int64], node_id: NDArray[np.int64]
    ) -> None:
        self._by_id = np.argsort(ids_of_trees)
        self._ids = ids_of_trees[self._by_id]
        self._distinct = np.unique(node_id)
        tree = np.repeat(np.arange(ids_of_trees.size), np.diff(start))
        key = self._keys(tree, np.searchsorted(self._distinct, node_id))
        self._order = np.argsort(key, kind="stable")
        self._sorted = key[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        is_first = np.ones(node_id.size, dtype=np.bool_)
        is_first[self._order[twice + 1]] = False
        check_nodes(start, is_first, "has the number {}, as another node of its tree has", node_id)

    def _keys(self, tree: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int64]:
        return tree * np.int64(self._distinct.size) + number

    def find(
        self, tree_id: NDArray[np.int64], node_id: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the positions of nodes, and whether they exist."""
        place = np.minimum(np.searchsorted(self._ids, tree_id), self._ids.size - 1)
        number = np.minimum(np.searchsorted(self._distinct, node_id), self._distinct.size - 1)
        is_known = (self._ids[place] == tree_id) & (self._distinct[number] == node_id)
        key = self._keys(self._by_id[place], number)
        found = np.minimum(np.searchsorted(self._sorted, key), self._sorted.size - 1)
        return self._order[found], is_known & (self._sorted[found] == key)


def _modes(words: list[bytes]) -> NDArray[np.int64]:
    unknown = sorted(set(words) - _MODES.keys())
    check_model(not unknown, f"it has nodes of unknown kinds ({b', '.join(unknown)[:100]!r})")
    return np.array([_MODES[word] for word in words], dtype=np.int64)


def _votes(attributes: Attributes, prefix: str, numbering: _Numbering, is_split: NDArray[np.bool_]) -> Votes:
    tree_id, node_id, output = (
        attributes.integers(f"{prefix}_{name}") for name in ("treeids", "nodeids", "ids")
    )
    amount = attributes.numbers(f"{prefix}_weights")
    check_model(
        tree_id.size == node_id.size == output.size == amount.size,
        f"it has {amount.size} weights of leaves, but not as many leaves for them",
    )
    node, is_known = numbering.find(tree_id, node_id)
    check_model(bool(is_known.all()), "it has weights of leaves that do not exist")
    # Old converters wrote weights for splits too; runtimes ignore them.
    counts = ~is_split[node]
    return Votes(node[counts], output[counts], amount[counts])


def _labels(attributes: Attributes) -> NDArray[Any]:
    texts, numbers = attributes.strings("classlabels_strings"), attributes.integers("classlabels_int64s")
    check_model(bool(texts) != bool(numbers.size), "its labels must be either texts or numbers")
    return np.array(texts, dtype=np.str_) if texts else numbers
