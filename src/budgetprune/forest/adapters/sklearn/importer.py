"""Importers for scikit-learn's trees, forests of trees, and bags of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.sklearn.common import about_model, check_fitted, join_decision_trees
from budgetprune.forest.adapters.sklearn.layout import class_columns
from budgetprune.forest.damage import check_model
from budgetprune.forest.forest import Forest

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)

# Criteria whose impurity is the variance around the mean, and whose value is the mean.
_VARIANCE_CRITERIA = ("squared_error", "friedman_mse")


def from_tree(model: Any) -> Forest:
    """Convert a single tree."""
    check_fitted(model)
    return _translate(model, [model])


def from_forest(model: Any) -> Forest:
    """Convert a forest of randomised trees."""
    check_fitted(model)
    return _translate(model, model.estimators_)


def from_bagging(model: Any) -> Forest:
    """Convert a bag of trees."""
    check_fitted(model)
    unsupported = {type(tree).__name__ for tree in model.estimators_ if type(tree) not in _TREES}
    if unsupported:
        raise UnsupportedModelError(
            f"a {type(model).__name__} of {', '.join(sorted(unsupported))} is not a forest: "
            f"its estimators must be {', '.join(tree.__name__ for tree in _TREES)}."
        )
    return _translate(model, model.estimators_, columns=model.estimators_features_)


def _translate(model: Any, trees: list[Any], columns: list[NDArray[Any]] | None = None) -> Forest:
    """Convert a fitted model from its trees.

    Parameters
    ----------
    model : the fitted estimator; its score is the mean of its trees
    trees : its fitted trees
    columns : for each tree, the columns of X that it was grown on; None if all were grown on all columns
    """
    if trees[0].n_outputs_ > 1:
        raise UnsupportedModelError(
            f"this {type(model).__name__} predicts {trees[0].n_outputs_} targets at once; "
            "train one model per target and prune each."
        )
    order, table, fields = join_decision_trees(trees)
    if columns is not None:
        for tree, seen in zip(trees, columns, strict=True):
            check_model(
                np.ndim(seen) == 1 and len(seen) == tree.tree_.n_features and min(seen) >= 0,
                "a tree was not grown on the columns that the ensemble records for it",
            )
        of_trees = np.split(fields["feature"], fields["tree_start"][1:-1])
        fields["feature"] = np.concatenate(
            [np.where(own >= 0, seen[own], -1) for own, seen in zip(of_trees, columns, strict=True)]
        )
    classes = model.classes_ if is_classifier(model) else None
    if classes is not None:
        n_classes = getattr(model, "n_classes_", len(classes))
        check_model(len(classes) == n_classes, f"it has {len(classes)} labels for {n_classes} classes")
    value = np.concatenate([_values(tree, classes) for tree in trees])[order]
    weight = fields["weight"]
    # Monotonic constraints clip values, so that they no longer describe the node's training rows.
    is_clipped = trees[0].monotonic_cst is not None
    has_variance = trees[0].criterion in _VARIANCE_CRITERIA and not is_clipped
    return Forest(
        **fields,
        **about_model(model),
        value=value,
        class_weight=None if classes is None or is_clipped else _snapped(value * weight[:, np.newaxis]),
        variance=table["impurity"] if has_variance else None,
        tree_output=np.full(len(trees), -1),
        base=np.zeros(value.shape[1]),
        divisor=float(len(trees)),
        link="identity",
        label_rule="argmax",
        classes=classes,
        # Which settings can route missing values differs between versions of scikit-learn; its trees know.
        missing="nan" if trees[0]._support_missing_values(None) else "forbidden",
    )


def _values(tree: Any, classes: NDArray[Any] | None) -> NDArray[np.float64]:
    """Value of each node; a class missing from the tree's sample gets probability 0."""
    own: NDArray[np.float64] = tree.tree_.value[:, 0, :]
    if classes is None:
        return own
    column = class_columns(tree, len(classes))
    check_model(
        own.shape[1] == column.size,
        f"a tree has probabilities of {own.shape[1]} classes, but has {column.size}",
    )
    value = np.zeros((len(own), len(classes)))
    value[:, column] = own
    return value


def _snapped(amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the rounding of (count / weight) * weight: a value a few ulps from an integer becomes it."""
    nearest = np.rint(amount)
    return np.where(np.abs(amount - nearest) <= 4 * np.finfo(np.float64).eps * nearest, nearest, amount)
