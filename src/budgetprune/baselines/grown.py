"""Base class of baselines that start from an ensemble of another library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from budgetprune.baselines.base import PricedForestClassifier
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.selection import set_open_parameters, supported_model, train, with_names
from budgetprune.utils.validation import labels_of, rows_of, weights_of


def _classifies(estimator: Any) -> bool:
    if not is_classifier(estimator):
        raise AttributeError("an ensemble that predicts numbers has no predict_proba.")
    return True


class GrownForest(PricedForestClassifier, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Ensemble with feature costs; a classifier or a regressor, like the wrapped estimator."""

    def __init__(
        self, estimator: Any = None, *, costs: Any = None, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _inner(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags, model = super().__sklearn_tags__(), self._inner()
        if isinstance(model, type) or not hasattr(model, "__sklearn_tags__"):
            return tags  # `fit` raises
        inner = get_tags(model)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        tags.input_tags = inner.input_tags
        return tags

    def _grow(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Forest]:
        """Validate the data, fit the ensemble unless it is frozen, and return the rows and the forest."""
        supported_model(self._inner())
        X = rows_of(self, X, reset=True)
        labels_of(self, X, y)
        sample_weight = weights_of(X, sample_weight)
        self._resolve_costs()
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator.estimator
            n_known = getattr(self.estimator_, "n_features_in_", self.n_features_in_)
            if n_known != self.n_features_in_:
                raise InvalidInputError(
                    f"X has {self.n_features_in_} features, but the frozen estimator learned {n_known}."
                )
        else:
            model = clone(self._inner())
            random = None if self.random_state is None else check_random_state(self.random_state)
            set_open_parameters(model, random, self.n_jobs)
            self.estimator_ = train(model, X, y, sample_weight)
        return X, with_names(Forest.from_model(self.estimator_), self._own_names())

    @available_if(_classifies)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        return super().predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R^2 of a regressor."""
        kind = ClassifierMixin if is_classifier(self) else RegressorMixin
        return float(kind.score(self, X, y, sample_weight))
