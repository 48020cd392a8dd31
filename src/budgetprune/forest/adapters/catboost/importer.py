"""Importer for CatBoost's models. CatBoost itself is not imported here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from budgetprune.forest.adapters.catboost.categories import Names, category_names, names_in_table
from budgetprune.forest.adapters.catboost.document import features_of, read_model
from budgetprune.forest.adapters.catboost.features import Features
from budgetprune.forest.adapters.catboost.objective import read_classes, read_objective
from budgetprune.forest.category_sets import pack_sets
from budgetprune.forest.damage import check_nodes
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology import in_preorder
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves


def from_catboost(model: Any) -> Forest:
    """Convert a fitted model from the JSON that CatBoost writes.

    CatBoost tests `x > border` in single precision, so rows on a border go left. A missing value is smaller
    than all borders, or larger (`nan_mode="Max"`). An oblivious tree of depth d becomes one with 2^d leaves.
    A split by category sends one category left; all others, missing ones too, go right.

    CatBoost records no values of inner nodes, and no gains: inner nodes have the mean of their leaves,
    weighted by the training rows.
    """
    saved = read_model(model)
    features, trees, n_outputs = saved.features, saved.trees, saved.bias.size
    _, objective = read_objective(saved.information, n_outputs)
    n_trees = trees.tree_start.size - 1
    order, parent, left, right = in_preorder(trees.tree_start, trees.left, trees.right)
    split = trees.split[order]
    check_nodes(trees.tree_start, (left >= 0) == (split >= 0), "has children but no split, or the opposite")
    tests = saved.splits.at(split)
    weight = sum_of_leaves(right, trees.weight[order][:, np.newaxis])[:, 0]
    # The set with the number of a category holds it alone.
    every = np.arange(tests.category.max() + 1)
    start, bits = pack_sets(every, every, every.size)
    return Forest(
        tree_start=trees.tree_start,
        parent=parent,
        left=left,
        right=right,
        feature=tests.feature,
        threshold=tests.threshold,
        missing_left=tests.missing_left,
        category_set=tests.category,
        category_start=start,
        category_bits=bits,
        value=saved.scale * mean_of_leaves(right, trees.value[order], weight),
        weight=weight,
        class_weight=None,
        variance=None,
        tree_output=np.full(n_trees, -1 if n_outputs > 1 else 0, dtype=np.int32),
        base=saved.bias,
        divisor=1.0,
        link=objective.link,
        label_rule="positive" if objective.link == "logistic" else "argmax",
        classes=read_classes(saved.information, objective, n_outputs),
        n_features=features.n_features,
        feature_names=features.names,
        input_dtype=np.dtype(np.float32),
        missing="nan",
        origin=model,
        origin_node=(order - np.repeat(trees.tree_start[:-1], np.diff(trees.tree_start))).astype(np.int32),
        loss=objective.loss,
        tree_round=np.arange(n_trees, dtype=np.int32),
        categories=_categories(features, {k: category_names(own) for k, own in features.hashes.items()}),
    )


def with_categories_of(forest: Forest, tables: Sequence[Any]) -> Forest:
    """Name the categories of a forest as they are written in tables, which have its columns."""
    features = features_of(forest.origin)
    names = {k: category_names(own) for k, own in features.hashes.items()}
    for k, own in features.hashes.items():
        levels = [level for table in tables for level in _levels(table, k)]
        names[k] = names_in_table(forest.names[k], own, levels)
    return replace(forest, categories=_categories(features, names))


def _levels(table: Any, k: int) -> list[Any]:
    """Distinct values of a column of a pandas or polars table."""
    if hasattr(table, "iloc"):
        return list(table.iloc[:, k].dropna().unique().tolist())
    return list(table[:, k].drop_nulls().unique(maintain_order=True).to_list())


def _categories(features: Features, named: dict[int, Names]) -> tuple[Names, ...] | None:
    if not named:
        return None
    return tuple(named.get(k) for k in range(features.n_features))
