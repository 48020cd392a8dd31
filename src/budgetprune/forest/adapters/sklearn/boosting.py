"""Importer for scikit-learn's gradient boosting of decision trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.sklearn.common import (
    about_model,
    boosting_fields,
    check_fitted,
    join_decision_trees,
)
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology_kernels import mean_of_leaves


def from_gradient_boosting(model: Any) -> Forest:
    """Convert a GradientBoostingClassifier or GradientBoostingRegressor."""
    check_fitted(model)
    if model.loss == "exponential":
        raise UnsupportedModelError(
            "a GradientBoostingClassifier with loss='exponential' turns a score s into the probability "
            "expit(2 s), for which Forest has no link; train it with loss='log_loss'."
        )
    n_rounds, n_outputs = model.estimators_.shape
    trees = list(model.estimators_.ravel())
    order, _, fields = join_decision_trees(trees)
    recorded = np.concatenate([tree.tree_.value[:, 0, :] for tree in trees])[order]
    value = model.learning_rate * recorded
    if model.loss == "squared_error":
        split_gain = _gains(recorded[:, 0], fields, model.learning_rate)
    else:
        # Splits hold means of residuals; leaves hold steps, on another scale.
        value, split_gain = mean_of_leaves(fields["right"], value, fields["weight"]), None
    return Forest(
        **fields,
        **about_model(model),
        **boosting_fields(model, "nonnegative", n_rounds, n_outputs),
        value=value,
        split_gain=split_gain,
        base=_base(model),
        missing="forbidden",
    )


def _base(model: Any) -> NDArray[np.float64]:
    """The score before the first tree, as the model computes it: it must be the same for every row."""
    init = model.init_
    is_random = getattr(init, "strategy", None) == "stratified"
    if type(init) not in (str, DummyClassifier, DummyRegressor) or is_random:
        raise UnsupportedModelError(
            f"this {type(model).__name__} starts from a {type(init).__name__} (init), whose prediction "
            f"differs from row to row; train it with init=None or init='zero', or prune it and add the other "
            f"model's "
            "score yourself."
        )
    any_row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    base: NDArray[np.float64] = model._raw_predict_init(any_row)[0]
    return base


def _gains(mean: NDArray[np.float64], fields: dict[str, Any], learning_rate: float) -> NDArray[np.float64]:
    """Decrease of half the squared error by each split, per unit of its tree's training weight.

    A node's value before shrinkage is the mean of its residuals, so a split's gain is the spread of its
    children's means around its own.
    """
    split = np.flatnonzero(fields["left"] >= 0)
    weight, start = fields["weight"], fields["tree_start"]
    total = np.repeat(weight[start[:-1]], np.diff(start))
    gain = np.zeros(mean.size)
    for child in (fields["left"][split], fields["right"][split]):
        gain[split] += weight[child] * (mean[child] - mean[split]) ** 2
    gain *= (learning_rate - learning_rate**2 / 2) / total
    return gain
