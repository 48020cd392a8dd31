"""Estimators with known predictions, for scorers, and a score that weighs classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight


class GivenClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that returns given labels and probabilities, whatever rows it gets.

    Parameters
    ----------
    classes : array of shape (n_classes,)
    labels : array of shape (n_rows,)
    probabilities : array of shape (n_rows, n_classes)
    """

    def __init__(
        self, classes: NDArray[Any], labels: NDArray[Any], probabilities: NDArray[np.float64]
    ) -> None:
        self.classes, self.labels, self.probabilities = classes, labels, probabilities

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the columns of probabilities."""
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels."""
        return self.labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities."""
        return self.probabilities


class GivenRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regressor that returns given targets, whatever rows it gets.

    Parameters
    ----------
    targets : array of shape (n_rows,)
    """

    def __init__(self, targets: NDArray[np.float64]) -> None:
        self.targets = targets

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the targets."""
        return self.targets


class WeightedAccuracy:
    """Scorer: share of correct labels, with weights of classes.

    Parameters
    ----------
    class_weight : "balanced" or mapping of labels to weights
        As in scikit-learn. ``"balanced"`` balances the rows that are scored.
    """

    def __init__(self, class_weight: Any) -> None:
        self.class_weight = class_weight

    def __call__(self, estimator: Any, X: Any, y: NDArray[Any], sample_weight: Any = None) -> float:
        """Return the score of an estimator for rows with labels."""
        wish = self.class_weight
        if isinstance(wish, Mapping):
            present = np.unique(y).tolist()
            wish = {label: weight for label, weight in wish.items() if label in present}
        weight = compute_sample_weight(wish, y)
        if sample_weight is not None:
            weight = weight * sample_weight
        is_right = np.asarray(estimator.predict(X) == y, dtype=np.float64)
        return float(np.average(is_right, weights=weight)) if weight.any() else float(is_right.mean())

    def __repr__(self) -> str:
        return f"WeightedAccuracy({self.class_weight!r})"
