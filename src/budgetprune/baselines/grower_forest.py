"""Validation of training rows, and conversion of grown trees to fields of a `Forest`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from budgetprune.baselines.binning import Bins
from budgetprune.baselines.grower import GrownTree
from budgetprune.errors import InvalidInputError
from budgetprune.forest import JoinedTrees, as_rows, join_trees
from budgetprune.utils.validation import rows_of

_INPUT = np.dtype(np.float32)


class ValidatedRows(NamedTuple):
    """Training rows, labels and weights."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


def validate_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> ValidatedRows:
    """Validate the training data of an estimator, set its features, and return arrays."""
    if y is None:
        raise InvalidInputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    X = rows_of(estimator, X, reset=True)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if sample_weight is not None:
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not sample_weight.any():
            raise InvalidInputError("sample_weight is zero in all rows; at least one row must count.")
    rows = as_rows(
        X, "X", n_features=estimator.n_features_in_, feature_names=None, dtype=_INPUT, allow_nan=True
    )
    return ValidatedRows(rows, y, sample_weight)


def find_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted classes, and the class index of each row."""
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, label = np.unique(y, return_inverse=True)
    return classes, label.astype(np.int32)


def find_several_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted classes and the class index of each row; raise if there is only one class."""
    classes, label = find_classes(y)
    if classes.size < 2:
        raise InvalidInputError(f"y has one class only, {classes[0].item()!r}; there must be at least two.")
    return classes, label


def combine_trees(trees: list[GrownTree], bins: Bins) -> JoinedTrees:
    """Concatenate grown trees, each in pre-order, with thresholds and children of their splits.

    The table has the `sums` of each node.
    """
    joined = join_trees([_table(tree) for tree in trees], "left", "right", no_child=-1)
    table, is_split = joined.table, joined.is_split
    feature = np.where(is_split, table["feature"], -1)
    joined.fields.update(
        {
            "feature": feature,
            "threshold": np.where(is_split, bins.edge[feature, table["bin"]], np.nan),
            "missing_left": table["missing_left"],
            "category_set": np.full(is_split.size, -1),
            "category_start": np.zeros(1, dtype=np.int64),
            "category_bits": np.empty(0, dtype=np.uint32),
            "variance": None,
            "n_features": bins.n_bins.size,
            "feature_names": None,
            "input_dtype": _INPUT,
            "missing": "nan",
        }
    )
    return joined


def _table(tree: GrownTree) -> NDArray[Any]:
    """Nodes of a tree as rows of a table."""
    columns = {name: array for name, array in tree._asdict().items() if name != "leaf"}
    table = np.empty(
        tree.feature.size, [(name, array.dtype, array.shape[1:]) for name, array in columns.items()]
    )
    for name, array in columns.items():
        table[name] = array
    return table
