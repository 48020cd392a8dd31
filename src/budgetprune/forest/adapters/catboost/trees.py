"""Trees of CatBoost's JSON as arrays: oblivious ones, and those with a split of its own at each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.catboost.parts import Nodes, Splits
from budgetprune.forest.damage import check_model

_DEEPEST = 16  # CatBoost's own limit for oblivious trees


class Trees(NamedTuple):
    """Nodes of all trees, each tree from its root; one entry per node."""

    tree_start: NDArray[np.int64]
    left: NDArray[np.int64]  # number in the tree, -1 at leaves
    right: NDArray[np.int64]
    split: NDArray[np.int64]  # number of a split, -1 at leaves
    value: NDArray[np.float64]  # of shape (n_nodes, n_outputs), 0 at splits
    weight: NDArray[np.float64]


def nested_trees(roots: Sequence[Any], nodes: Nodes, splits: Splits) -> Trees:
    """Separate trees whose nodes are listed one tree after the other, children before parents.

    In CatBoost's JSON, rows that pass the test of a split go right. A Forest sends a category left.
    """
    n_nodes = nodes.left.size
    end = np.array(roots, dtype=np.int64) + 1
    check_model(
        bool(np.all(np.diff(end, prepend=0) > 0)) and end[-1] == n_nodes,
        "its trees do not have all of its nodes",
    )
    start = np.concatenate([[0], end])
    # Backwards, so that the root comes first.
    node = np.repeat(start[:-1] + end - 1, np.diff(start)) - np.arange(n_nodes)
    root = np.repeat(end - 1, np.diff(start))
    left, right = (np.where(child[node] >= 0, root - child[node], -1) for child in nodes[:2])
    split = nodes.split[node]
    is_swapped = splits.at(split).category >= 0
    return Trees(
        start,
        np.where(is_swapped, right, left),
        np.where(is_swapped, left, right),
        split,
        nodes.value[node],
        nodes.weight[node],
    )


def oblivious_trees(documents: Sequence[Mapping[str, Any]], splits: Splits, n_outputs: int) -> Trees:
    """Read trees whose nodes of one depth share a split."""
    trees = [_oblivious(t, tree, splits, n_outputs) for t, tree in enumerate(documents)]
    start = np.concatenate([[0], np.cumsum([tree.left.size for tree in trees])])
    return Trees(start, *(np.concatenate(column) for column in list(zip(*trees, strict=True))))


def _oblivious(t: int, tree: Mapping[str, Any], splits: Splits, n_outputs: int) -> Nodes:
    """Read a tree as nodes that are numbered level by level.

    Bit `i` of the number of a leaf, in CatBoost's order, tells whether the row passes the test of split `i`.
    """
    own = np.array(tree["splits"], dtype=np.int64)
    depth = own.size
    check_model(depth <= _DEEPEST, f"tree {t} is {depth} deep, more than {_DEEPEST}")
    n_leaves = 2**depth
    value = np.asarray(tree["leaf_values"], dtype=np.float64)
    weight = np.asarray(tree.get("leaf_weights") or np.zeros(n_leaves), dtype=np.float64)
    check_model(
        value.size == n_leaves * n_outputs and weight.shape == (n_leaves,),
        f"tree {t} has {depth} splits, but {value.size} values of leaves and {weight.size} weights",
    )
    level = np.arange(depth)
    went_right = np.arange(n_leaves)[:, np.newaxis] >> (depth - 1 - level) & 1
    # A category that a split tests goes left, a number above the border right.
    passed = np.where(splits.category[own] < 0, went_right, 1 - went_right)
    leaf = (passed << level).sum(axis=1)
    node = np.arange(2 * n_leaves - 1)
    is_split = node < n_leaves - 1
    return Nodes(
        np.where(is_split, 2 * node + 1, -1),
        np.where(is_split, 2 * node + 2, -1),
        np.concatenate([own[np.frexp(node[: n_leaves - 1] + 1)[1] - 1], np.full(n_leaves, -1)]),
        np.concatenate([np.zeros((n_leaves - 1, n_outputs)), value.reshape(n_leaves, n_outputs)[leaf]]),
        np.concatenate([np.zeros(n_leaves - 1), weight[leaf]]),
    )
