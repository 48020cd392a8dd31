"""Checks of XGBoost's JSON before any of it is used as an index or a size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.damage import check_model, damaged

_MOST_CATEGORIES = 2**24  # XGBoost's own limit: categories are floats in single precision


def check_ensemble(ensemble: dict[str, Any], n_outputs: int) -> None:
    """Check that every tree has an output and a round, and every output a tree."""
    n_trees = len(ensemble["trees"])
    output, bounds = np.asarray(ensemble["tree_info"]), np.asarray(ensemble["iteration_indptr"])
    check_model(
        output.shape == (n_trees,) and bool(np.all((output >= 0) & (output < n_outputs))),
        f"tree_info does not give each of {n_trees} trees one of {n_outputs} outputs",
    )
    check_model(
        bounds.size > 0 and bounds[0] == 0 and bounds[-1] == n_trees and bool(np.all(np.diff(bounds) >= 0)),
        f"iteration_indptr does not divide {n_trees} trees into rounds",
    )


def check_tree(t: int, tree: dict[str, Any], per_node: tuple[str, ...], n_features: int) -> None:
    """Check the arrays of one tree; `in_preorder` checks that its links form a tree."""
    n_nodes = len(tree["left_children"])
    odd = [field for field in per_node if len(tree[field]) != n_nodes]
    check_model(n_nodes > 0 and not odd, f"tree {t} has {n_nodes} nodes, but not as many {', '.join(odd)}")
    left, right, feature = (
        np.asarray(tree[field], dtype=np.int64)
        for field in ("left_children", "right_children", "split_indices")
    )
    for side, child in (("left", left), ("right", right)):
        _check(t, (child >= -1) & (child < n_nodes), f"has the {side} child {{}}", child)
    is_split = left >= 0
    _check(t, is_split == (right >= 0), "has one child only", left)
    is_known = ~is_split | ((feature >= 0) & (feature < n_features))
    _check(t, is_known, "splits by the feature {}, which does not exist", feature)
    by_category = np.asarray(tree["split_type"], dtype=np.int64)
    _check(
        t, (by_category == 0) | (by_category == 1), "has the split type {}, which does not exist", by_category
    )
    _check_sets(t, tree, is_split & (by_category == 1))


def _check_sets(t: int, tree: dict[str, Any], by_category: NDArray[np.bool_]) -> None:
    """Check that every split by category has one set, which lies within the list of all categories."""
    node, segment, size, category = (
        np.asarray(tree[field], dtype=np.int64)
        for field in ("categories_nodes", "categories_segments", "categories_sizes", "categories")
    )
    check_model(node.size == segment.size == size.size, f"tree {t} has sets of categories without a node")
    check_model(
        bool(np.all((node >= 0) & (node < by_category.size))),
        f"tree {t} has sets of categories for nodes that do not exist",
    )
    n_sets = np.bincount(node, minlength=by_category.size)
    _check(t, ~by_category | (n_sets == 1), "splits by category, but has {} sets of categories", n_sets)
    check_model(
        bool(np.all((segment >= 0) & (size >= 0) & (size <= category.size - segment))),
        f"tree {t} has sets of categories that lie outside of its list of categories",
    )
    check_model(
        bool(np.all((category >= 0) & (category < _MOST_CATEGORIES))),
        f"tree {t} has a category that is negative or not below {_MOST_CATEGORIES}",
    )


def _check(t: int, is_fine: NDArray[np.bool_], what: str, found: NDArray[Any]) -> None:
    """Raise at the first node of a tree that is wrong."""
    if not np.all(is_fine):
        h = int(np.argmin(is_fine))
        raise damaged(f"node {h} of tree {t} {what.format(found[h])}")


def reachable(t: int, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes that can be reached from the root, in increasing order; children must be in range."""
    children = np.array([left, right])
    levels, n_found = [np.zeros(1, dtype=np.int64)], 1
    while levels[-1].size:
        below = children[:, levels[-1]]
        levels.append(below[below >= 0])
        # In a cycle, the same nodes would be visited forever.
        n_found += levels[-1].size
        if n_found > left.size:
            break
    found, times = np.unique(np.concatenate(levels), return_counts=True)
    if np.any(times > 1):
        h = int(found[np.argmax(times > 1)])
        raise damaged(f"node {h} of tree {t} can be reached from the root in more than one way")
    return found
