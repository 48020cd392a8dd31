"""Splits and nodes of CatBoost's JSON, collected as columns while the JSON is parsed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.catboost.categories import category_numbers
from budgetprune.forest.adapters.catboost.features import Features
from budgetprune.forest.damage import check_model


class Splits(NamedTuple):
    """Tests of a Forest: `x <= threshold` goes left, or the category with a number; one entry per split."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]  # NaN for a category
    category: NDArray[np.int32]  # -1 for a threshold
    missing_left: NDArray[np.bool_]

    def at(self, split: NDArray[np.int64]) -> Splits:
        """Tests of nodes by the number of their split, -1 at leaves."""
        return Splits(
            np.append(self.feature, np.int32(-1))[split],
            np.append(self.threshold, np.nan)[split],
            np.append(self.category, np.int32(-1))[split],
            np.append(self.missing_left, False)[split],
        )


class Nodes(NamedTuple):
    """Nodes of nested trees, children before parents; one entry per node."""

    left: NDArray[np.int64]  # number of a node, -1 at leaves
    right: NDArray[np.int64]
    split: NDArray[np.int64]  # number of a split, -1 at leaves
    value: NDArray[np.float64]  # of shape (n_nodes, n_outputs), 0 at splits
    weight: NDArray[np.float64]


class Parts:
    """Hook for a JSON parser, which replaces each split and each node by its number.

    A model with a million nodes would take gigabytes as dictionaries.
    """

    def __init__(self) -> None:
        self._kind: list[str] = []
        self._owner: list[Any] = []  # CatBoost's number of the feature
        self._operand: list[Any] = []  # border, or hash of a category
        self._left: list[Any] = []
        self._right: list[Any] = []
        self._split: list[Any] = []
        self._leaf: list[int] = []
        self._value: list[Any] = []
        self._weight: list[Any] = []

    def collect(self, part: dict[str, Any]) -> Any:
        if "split_type" in part:
            kind = part["split_type"]
            is_float = kind == "FloatFeature"
            self._kind.append(kind)
            self._owner.append(part.get("float_feature_index" if is_float else "cat_feature_index", -1))
            self._operand.append(part.get("border" if is_float else "value", 0))
            return len(self._kind) - 1
        if "left" in part:
            return self._node(part["left"], part["right"], part["split"])
        if "value" in part:
            self._leaf.append(len(self._left))
            self._value.append(part["value"])
            self._weight.append(part.get("weight", 0.0))
            return self._node(-1, -1, -1)
        return part

    def _node(self, left: Any, right: Any, split: Any) -> int:
        self._left.append(left)
        self._right.append(right)
        self._split.append(split)
        return len(self._left) - 1

    def splits(self, features: Features) -> Splits:
        """All splits; raise if a Forest has no such ones."""
        unknown = sorted(set(self._kind) - {"FloatFeature", "OneHotFeature"})
        if unknown:
            raise UnsupportedModelError(
                f"this CatBoost model has splits of the type {', '.join(map(str, unknown))}, of which a "
                "Forest has none; train with one_hot_max_size at least as large as the number of categories "
                "of each column."
            )
        is_float = np.array([kind == "FloatFeature" for kind in self._kind], dtype=np.bool_)
        numbers = {column: category_numbers(hashes) for column, hashes in features.hashes.items()}
        feature, category = [], []
        for by_number, owner, operand in zip(is_float.tolist(), self._owner, self._operand, strict=True):
            feature.append((features.column if by_number else features.category_column)[owner])
            category.append(-1 if by_number else numbers[feature[-1]][operand])
        missing_left = [
            by_number and features.missing_left[owner]
            for by_number, owner in zip(is_float.tolist(), self._owner, strict=True)
        ]
        return Splits(
            np.array(feature, dtype=np.int32),
            np.where(is_float, np.array(self._operand, dtype=np.float64), np.nan),
            np.array(category, dtype=np.int32),
            np.array(missing_left, dtype=np.bool_),
        )

    def nodes(self, n_outputs: int) -> Nodes:
        """All nodes of nested trees."""
        values = np.array(self._value, dtype=np.float64).reshape(len(self._value), -1)
        check_model(
            values.shape[1] == n_outputs, f"its leaves have {values.shape[1]} values for {n_outputs} outputs"
        )
        n_nodes = len(self._left)
        value, weight = np.zeros((n_nodes, n_outputs)), np.zeros(n_nodes)
        value[self._leaf], weight[self._leaf] = values, np.array(self._weight, dtype=np.float64)
        split = np.array(self._split, dtype=np.int64)
        check_model(
            bool(np.all((split >= -1) & (split < len(self._kind)))), "it has splits that do not exist"
        )
        left, right = (np.array(child, dtype=np.int64) for child in (self._left, self._right))
        return Nodes(left, right, split, value, weight)
