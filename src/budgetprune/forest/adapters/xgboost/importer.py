"""Importer for XGBoost's boosted trees and random forests. XGBoost itself is never imported here."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.xgboost.checks import reachable
from budgetprune.forest.adapters.xgboost.model import SavedModel, read_model
from budgetprune.forest.adapters.xgboost.values import Records, node_values, recorded_gains, recover_growth
from budgetprune.forest.category_sets import pack_sets
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology import in_preorder


def from_xgboost(model: Any) -> Forest:
    """Convert a fitted model from the JSON that XGBoost saves.

    XGBoost compares `x < t` in single precision, sends a split's set of categories right and all other
    categories left, known or not. In a Forest, `x <= t` goes left, and so does a set: thresholds move down to
    the next smaller number, and splits by category swap their children.

    A node's weight is its sum of hessians. That is the weight of its rows for squared errors only; XGBoost
    records nothing else, and weights are used to compare nodes of one tree.
    """
    saved = read_model(model)
    kept = [_kept(t, tree) for t, tree in enumerate(saved.trees)]
    start = np.concatenate([[0], np.cumsum([nodes.size for nodes in kept])])
    is_category = _column(saved, kept, "split_type", np.int64) == 1
    below, above = (_numbers_among(saved, kept, side) for side in ("left_children", "right_children"))
    order, parent, left, right = in_preorder(
        start, np.where(is_category, above, below), np.where(is_category, below, above)
    )
    is_split, is_category = left >= 0, is_category[order]
    condition = _column(saved, kept, "split_conditions", np.float32)[order]
    with np.errstate(over="ignore"):  # nothing is below the smallest number: minus infinity
        just_below = np.nextafter(condition, np.float32(-np.inf))
    records = Records(
        start,
        left,
        right,
        answer=np.where(is_split, 0.0, condition),
        optimum=_column(saved, kept, "base_weights", np.float64)[order],
        hessian=_column(saved, kept, "sum_hessian", np.float64)[order],
        gain=_column(saved, kept, "loss_changes", np.float64)[order],
    )
    growth = recover_growth(records, saved)
    value = node_values(records, growth)
    tree_output = np.asarray(saved.ensemble["tree_info"])
    names = saved.learner["feature_names"]
    default_left = _column(saved, kept, "default_left", np.bool_)[order]
    return Forest(
        tree_start=start,
        parent=parent,
        left=left,
        right=right,
        feature=np.where(is_split, _column(saved, kept, "split_indices", np.int64)[order], -1),
        threshold=np.where(is_split & ~is_category, just_below, np.nan),
        missing_left=(default_left != is_category) & is_split,
        **_category_sets(saved, kept, start, order),
        value=value[:, np.newaxis],
        weight=records.hessian,
        class_weight=None,
        variance=None,
        tree_output=tree_output,
        base=saved.base,
        divisor=1.0,
        link=saved.objective.link,
        label_rule=saved.objective.label_rule,
        label_dtype=np.dtype(np.float32),
        classes=np.arange(saved.n_classes) if saved.n_classes else None,
        n_features=saved.n_features,
        feature_names=tuple(names) if names else None,
        input_dtype=np.dtype(np.float32),
        missing="nan",
        absent_is_missing=True,
        origin=model,
        origin_node=np.concatenate(kept)[order].astype(np.int32),
        loss=saved.objective.loss,
        tree_round=_rounds(saved),
        split_gain=recorded_gains(records, growth, saved, value, tree_output[0]),
        categories=_categories(saved),
    )


def _kept(t: int, tree: dict[str, Any]) -> NDArray[np.int64]:
    """Indices of a tree's nodes, without nodes that XGBoost has pruned but keeps in its arrays."""
    left, right = (np.asarray(tree[side], dtype=np.int64) for side in ("left_children", "right_children"))
    return np.arange(left.size) if tree["tree_param"]["num_deleted"] == "0" else reachable(t, left, right)


def _column(saved: SavedModel, kept: list[NDArray[np.int64]], field: str, dtype: Any) -> NDArray[Any]:
    """One field of all remaining nodes, tree after tree."""
    columns = (np.asarray(tree[field], dtype)[nodes] for tree, nodes in zip(saved.trees, kept, strict=True))
    return np.concatenate(list(columns))


def _numbers_among(saved: SavedModel, kept: list[NDArray[np.int64]], side: str) -> NDArray[np.int64]:
    """Indices of the children among the remaining nodes of their tree."""
    numbers = []
    for tree, nodes in zip(saved.trees, kept, strict=True):
        child = np.asarray(tree[side])[nodes]
        numbers.append(np.where(child >= 0, np.searchsorted(nodes, child), -1))
    return np.concatenate(numbers)


def _rounds(saved: SavedModel) -> NDArray[np.int32]:
    sizes = np.diff(saved.ensemble["iteration_indptr"])
    return np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)


def _category_sets(
    saved: SavedModel, kept: list[NDArray[np.int64]], start: NDArray[np.int64], order: NDArray[np.int64]
) -> dict[str, Any]:
    """Fields of Forest for the categories that go left, as bits."""
    category_set = np.full(order.size, -1)
    members: list[NDArray[np.int64]] = []
    for tree, nodes, first in zip(saved.trees, kept, start[:-1], strict=True):
        sets = zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        )
        for node, segment, size in sets:
            place = np.searchsorted(nodes, node)
            if place < nodes.size and nodes[place] == node:
                category_set[first + place] = len(members)
                members.append(np.asarray(tree["categories"][segment : segment + size], dtype=np.int64))
    owner = np.repeat(np.arange(len(members)), [some.size for some in members])
    category = np.concatenate([np.empty(0, dtype=np.int64), *members])
    word_start, bits = pack_sets(owner, category, len(members))
    return {"category_set": category_set[order], "category_start": word_start, "category_bits": bits}


def _categories(saved: SavedModel) -> tuple[tuple[Any, ...] | None, ...] | None:
    """Names of the categories of each feature, which XGBoost keeps since version 3.1 for tables."""
    encodings = saved.ensemble.get("cats", {}).get("enc", [])
    categories = tuple(_names(encoding) for encoding in encodings)
    return categories if len(categories) == saved.n_features and any(categories) else None


def _names(encoding: dict[str, list[int]]) -> tuple[Any, ...] | None:
    values = encoding["values"]
    if "offsets" not in encoding:
        return tuple(values) or None
    # XGBoost (3.2) stores bytes but counts characters, so names that are not ASCII are cut at wrong places.
    if not values or min(values) < 0:
        return None
    offsets = encoding["offsets"]
    return tuple(bytes(values[a:b]).decode("ascii") for a, b in pairwise(offsets))
