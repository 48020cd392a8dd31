"""Importers for scikit-learn's trees, forests of trees, and bags of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.utils.validation import check_is_fitted

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest._forest import Forest
from budgetprune.forest._layout import class_columns, node_table
from budgetprune.forest._registry import importer
from budgetprune.forest._topology import in_preorder

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)

# Criteria whose impurity is the variance around the mean, and whose value is the mean.
_VARIANCE_CRITERIA = ("squared_error", "friedman_mse")


@importer(*(f"sklearn.{tree.__name__}" for tree in _TREES))
def _from_tree(model: Any) -> Forest:
    _check_fitted(model)
    return _translate(model, [model])


@importer(
    "sklearn.RandomForestClassifier",
    "sklearn.RandomForestRegressor",
    "sklearn.ExtraTreesClassifier",
    "sklearn.ExtraTreesRegressor",
)
def _from_forest(model: Any) -> Forest:
    _check_fitted(model)
    return _translate(model, model.estimators_)


@importer("sklearn.BaggingClassifier", "sklearn.BaggingRegressor")
def _from_bag(model: Any) -> Forest:
    _check_fitted(model)
    strangers = {type(tree).__name__ for tree in model.estimators_ if type(tree) not in _TREES}
    if strangers:
        raise UnsupportedModelError(
            f"a {type(model).__name__} of {', '.join(sorted(strangers))} is not a forest: "
            f"its estimators must be {', '.join(tree.__name__ for tree in _TREES)}."
        )
    return _translate(model, model.estimators_, columns=model.estimators_features_)


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InvalidInputError(f"this {type(model).__name__} is not fitted; call its fit first.") from error


def _translate(model: Any, trees: list[Any], columns: list[NDArray[Any]] | None = None) -> Forest:
    """Put the trees of a fitted model one after the other, each in pre-order.

    Parameters
    ----------
    model : the fitted estimator; its score is the mean of its trees
    trees : its fitted trees
    columns : for each tree, the columns of X that it saw; None if every tree saw all of them
    """
    if trees[0].n_outputs_ > 1:
        raise UnsupportedModelError(
            f"this {type(model).__name__} predicts {trees[0].n_outputs_} targets at once; "
            "train one model per target and prune each."
        )
    tables = [node_table(tree.tree_) for tree in trees]
    start = np.concatenate([[0], np.cumsum([table.size for table in tables])])
    table = np.concatenate(tables)
    if columns is not None:
        for nodes, seen in zip(np.split(table, start[1:-1]), columns, strict=True):
            is_split = nodes["feature"] >= 0
            nodes["feature"][is_split] = seen[nodes["feature"][is_split]]
    order, parent, left, right = in_preorder(start, table["left_child"], table["right_child"])
    table = table[order]
    is_split = left >= 0
    classes = model.classes_ if is_classifier(model) else None
    value = np.concatenate([_values(tree, classes) for tree in trees])[order]
    weight = table["weighted_n_node_samples"]
    # Monotonic constraints clip values, so that they no longer tell what the node's training rows were like.
    is_clipped = trees[0].monotonic_cst is not None
    has_variance = trees[0].criterion in _VARIANCE_CRITERIA and not is_clipped
    return Forest(
        tree_start=start,
        parent=parent,
        left=left,
        right=right,
        feature=np.where(is_split, table["feature"], -1),
        threshold=np.where(is_split, table["threshold"], np.nan),
        missing_left=(table["missing_go_to_left"] != 0) & is_split,
        category_set=np.full(order.size, -1),
        category_start=np.zeros(1, dtype=np.int64),
        category_bits=np.empty(0, dtype=np.uint32),
        value=value,
        weight=weight,
        class_weight=None if classes is None or is_clipped else _snapped(value * weight[:, np.newaxis]),
        variance=table["impurity"] if has_variance else None,
        tree_output=np.full(len(trees), -1),
        base=np.zeros(value.shape[1]),
        divisor=float(len(trees)),
        link="identity",
        label_rule="argmax",
        classes=classes,
        n_features=model.n_features_in_,
        feature_names=tuple(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
        input_dtype=np.dtype(np.float32),
        # Which settings can route missing values differs between versions of scikit-learn; its trees know.
        missing="nan" if trees[0]._support_missing_values(None) else "forbidden",
        origin=model,
        origin_node=order - np.repeat(start[:-1], np.diff(start)),
    )


def _values(tree: Any, classes: NDArray[Any] | None) -> NDArray[np.float64]:
    """What each node answers; a class that the tree has never seen gets probability 0."""
    own: NDArray[np.float64] = tree.tree_.value[:, 0, :]
    if classes is None:
        return own
    value = np.zeros((len(own), len(classes)))
    value[:, class_columns(tree, len(classes))] = own
    return value


def _snapped(amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the rounding of (count / weight) * weight: a few ulps from an integer, it was that integer."""
    nearest = np.rint(amount)
    return np.where(np.abs(amount - nearest) <= 4 * np.finfo(np.float64).eps * nearest, nearest, amount)
