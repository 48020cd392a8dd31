"""Trees that are written as nested tuples, and rows for them."""

from __future__ import annotations

from typing import Any

import numpy as np

NAN = float("nan")


def plant(trees: list[Any], n_values: int) -> dict[str, Any]:
    """Arrays of trees that are written as nested tuples.

    A leaf is a list of `n_values` numbers; a split is (feature, threshold or set of categories, whether
    missing values go left, left subtree, right subtree). It answers the mean of its children.
    """
    names = ("parent", "left", "right", "feature", "threshold", "missing_left", "category_set", "origin_node")
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "value", "weight")}
    sets: list[list[int]] = []

    def grow(tree: Any, parent: int, root: int) -> int:
        h = len(columns["parent"])
        leaf = (parent, -1, -1, -1, NAN, False, -1, h - root)
        for name, entry in zip(names, leaf, strict=True):
            columns[name].append(entry)
        columns["value"].append(tree)
        columns["weight"].append(2.0)
        if isinstance(tree, tuple):
            feature, test, missing_left, left, right = tree
            columns["feature"][h], columns["missing_left"][h] = feature, missing_left
            if isinstance(test, set):
                columns["category_set"][h] = len(sets)
                n_words = 1 + max(test) // 32
                sets.append([sum(1 << c % 32 for c in test if c // 32 == w) for w in range(n_words)])
            else:
                columns["threshold"][h] = test
            children = columns["left"][h], columns["right"][h] = grow(left, h, root), grow(right, h, root)
            a, b = (columns["value"][child] for child in children)
            columns["value"][h] = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
            columns["weight"][h] = sum(columns["weight"][child] for child in children)
        return h

    starts = []
    for tree in trees:
        starts.append(len(columns["parent"]))
        grow(tree, -1, starts[-1])
    return columns | {
        "tree_start": [*starts, len(columns["parent"])],
        "category_start": np.cumsum([0, *map(len, sets)]),
        "category_bits": [word for words in sets for word in words],
        "value": np.array(columns["value"], dtype=float).reshape(-1, n_values),
    }


def rows(n_features: int) -> list[list[float | None]]:
    """Rows that meet thresholds, categories and missing values in many combinations; None is missing."""
    values = [None, 0.0, 1.0, -1.25, 49.5, 3.0, 2.25, 40.0, 0.5, None, 33.0, -7.5, 1e6]
    return [
        [values[(3 * i + 5 * k + (i + i // 13) * k) % len(values)] for k in range(n_features)]
        for i in range(26)
    ]
