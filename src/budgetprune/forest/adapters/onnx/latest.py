"""Trees of the operator TreeEnsemble (ai.onnx.ml 5), as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx.attributes import Attributes
from budgetprune.forest.adapters.onnx.table import Ensemble, Members, Mode, Nodes, Votes, check_aggregation
from budgetprune.forest.damage import check_model

_SHARED = "some of its nodes can be reached from roots in several ways"

_AGGREGATIONS = ("AVERAGE", "SUM", "MIN", "MAX")

_PER_SPLIT = ("featureids", "splits", "modes", "truenodeids", "trueleafs", "falsenodeids", "falseleafs")
_KNOWN = frozenset(
    {
        *(f"nodes_{name}" for name in (*_PER_SPLIT, "missing_value_tracks_true", "hitrates")),
        "aggregate_function",
        "post_transform",
        "n_targets",
        "tree_roots",
        "membership_values",
        "leaf_targetids",
        "leaf_weights",
    }
)


def read_latest(node: NodeProto) -> Ensemble:
    """Read a TreeEnsemble, which lists the splits of all trees, and apart from them the leaves.

    Here every reference to a leaf becomes a node, numbered after the splits. A split whose sides are the same
    leaf stands for that leaf.
    """
    attributes = Attributes(node, _KNOWN)
    _check_settings(attributes)
    mode, operand = attributes.tensor("nodes_modes"), attributes.tensor("nodes_splits")
    feature = attributes.integers("nodes_featureids")
    missing = attributes.integers("nodes_missing_value_tracks_true")
    output, amount = attributes.integers("leaf_targetids"), attributes.tensor("leaf_weights")
    child, is_leaf = (
        np.array([attributes.integers(f"nodes_{side}{what}") for side in ("true", "false")])
        for what in ("nodeids", "leafs")
    )
    n_splits = mode.size
    check_model(
        n_splits > 0
        and child.shape == is_leaf.shape == (2, n_splits)
        and feature.size == operand.size == n_splits
        and missing.size in (0, n_splits)
        and output.size == amount.size,
        "its lists of splits, or of leaves, differ in length",
    )
    check_model(bool(np.all((mode >= 0) & (mode < Mode.LEAF))), "it has splits of an unknown kind")
    limit = np.where(is_leaf != 0, amount.size, n_splits)
    check_model(bool(np.all((child >= 0) & (child < limit))), "it has splits with children that do not exist")
    links, leaf = _number_leaves(child, is_leaf != 0)
    start, order, links = _separate(attributes.integers("tree_roots"), links, n_splits)
    at_split = np.where(links[0] >= 0, order, 0)
    is_split = links[0] >= 0
    nodes = Nodes(
        start,
        links[0],
        links[1],
        feature[at_split],
        np.where(is_split, mode[at_split].astype(np.int64), Mode.LEAF),
        operand[at_split].astype(np.float64),
        missing[at_split] != 0 if missing.size else np.zeros(order.size, dtype=np.bool_),
    )
    own = leaf[order[~is_split]]
    return Ensemble(
        nodes,
        _members(attributes, nodes, order, mode),
        Votes(np.flatnonzero(~is_split), output[own], amount[own].astype(np.float64)),
        attributes.integer("n_targets", 1),
        np.empty(0),
        check_aggregation(_AGGREGATIONS[attributes.integer("aggregate_function", 1)]),
        "NONE",
        None,
    )


def _check_settings(attributes: Attributes) -> None:
    aggregation = attributes.integer("aggregate_function", 1)
    check_model(0 <= aggregation < len(_AGGREGATIONS), f"it has the unknown aggregate_function {aggregation}")
    if attributes.integer("post_transform", 0) != 0:
        raise UnsupportedModelError(
            "the operator TreeEnsemble of this ONNX model has a post_transform, of which runtimes have "
            "different understandings; add an operator Softmax or Sigmoid instead, or use "
            "TreeEnsembleClassifier."
        )


def _number_leaves(
    child: NDArray[np.int64], is_leaf: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give every reference to a leaf a node behind the splits.

    Returns
    -------
    links : of shape (2, n_nodes), -1 at leaves
    leaf : of each node, -1 at splits
    """
    n_splits = child.shape[1]
    is_single = is_leaf.all(axis=0) & (child[0] == child[1])
    leaf = np.concatenate([np.where(is_single, child[0], -1), child[is_leaf]])
    links = np.full((2, leaf.size), -1)
    links[:, :n_splits] = child
    links[:, :n_splits][is_leaf] = np.arange(n_splits, leaf.size)
    links[:, np.flatnonzero(is_single)] = -1
    return links, leaf


def _separate(
    roots: NDArray[np.int64], links: NDArray[np.int64], n_splits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sort the nodes by tree, the root first; nodes that no root reaches are left out.

    Returns
    -------
    tree_start : offsets of the trees
    order : old number of each node
    links : of shape (2, n_nodes), numbers of the children in their trees, -1 at leaves
    """
    check_model(
        roots.size > 0 and bool(np.all((roots >= 0) & (roots < n_splits))), "it has roots that do not exist"
    )
    levels, trees = [roots], [np.arange(roots.size)]
    n_found = roots.size
    while levels[-1].size:
        below = links[:, levels[-1]]
        is_node = below >= 0
        levels.append(below[is_node])
        trees.append(np.broadcast_to(trees[-1], below.shape)[is_node])
        n_found += levels[-1].size
        check_model(n_found <= links.shape[1], _SHARED)
    order, tree = np.concatenate(levels), np.concatenate(trees)
    check_model(np.unique(order).size == order.size, _SHARED)
    by_tree = np.argsort(tree, kind="stable")  # roots were found first
    order = order[by_tree]
    tree_start = np.concatenate([[0], np.cumsum(np.bincount(tree, minlength=roots.size))])
    number = np.full(links.shape[1] + 1, -1)
    number[order] = np.arange(order.size) - tree_start[tree[by_tree]]
    return tree_start, order, number[links[:, order]]


def _members(
    attributes: Attributes, nodes: Nodes, order: NDArray[np.int64], mode: NDArray[np.int64]
) -> Members:
    """Values that splits test for equality or membership; the sets are separated by NaN."""
    by_value = np.flatnonzero((nodes.mode == Mode.EQ) | (nodes.mode == Mode.NEQ))
    values = attributes.tensor("membership_values").astype(np.float64)
    by_set = np.flatnonzero(mode == Mode.MEMBER)
    is_end = np.isnan(values)
    owner = np.cumsum(is_end) - is_end
    is_member = ~is_end
    check_model(
        owner[is_member].max(initial=-1) < by_set.size <= owner.max(initial=-1) + 1,
        f"it has {by_set.size} splits by membership, but not as many sets of values",
    )
    place = np.full(mode.size, -1)
    is_old_split = order < mode.size
    place[order[is_old_split]] = np.flatnonzero(is_old_split)
    node = place[by_set[owner[is_member]]]
    return Members(
        np.concatenate([by_value, node[node >= 0]]),
        np.concatenate([nodes.operand[by_value], values[is_member][node >= 0]]),
    )
