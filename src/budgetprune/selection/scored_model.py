"""Models that a scorer sees while candidates are compared: their scores on some rows are known already."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.problem import Pruning
from budgetprune.refit import Refit
from budgetprune.selection.options import SelectionOptions
from budgetprune.selection.pruned_model import PrunedClassifier, PrunedModel, PrunedRegressor

NO_PROBABILITIES = (
    "with slack, predictions stop before probabilities are known, so a scoring of probabilities is "
    "impossible: use a scoring of labels, slack=0, or counting='full'."
)


class EarlyLabels(NamedTuple):
    """Labels (or targets) of predictions that stop early, and their slack."""

    labels: NDArray[Any]
    slack: float


class _ScoredModel(PrunedModel):
    """Pruned model with known scores on the rows `X`; for other rows, it computes them.

    Candidates are compared by the hundred on the same rows, which were routed through the trees once. A
    scorer passes on the rows that it was given, so they are recognised by identity.
    """

    _known_rows: Any
    _known_scores: NDArray[np.float64]
    _early: EarlyLabels | None

    @property
    def n_features_in_(self) -> int:
        return self._interpreter.n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        names = self._interpreter.feature_names
        if names is None:
            raise AttributeError("feature_names_in_ is not there, because the features have no names.")
        return np.array(names, dtype=object)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the model, which is fitted; scikit-learn requires the method of estimators."""
        return self

    def _check_rows(self, X: Any) -> Any:
        return X  # parts of rows that were checked before

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if X is not self._known_rows:
            return super()._scores(X)
        if self._early is not None:
            raise InvalidInputError(NO_PROBABILITIES)
        return self._known_scores

    def _early_labels(self, X: Any) -> NDArray[Any] | None:
        if X is not self._known_rows:
            return super()._early_labels(X)
        return None if self._early is None else self._early.labels


class ScoredClassifier(ClassifierMixin, _ScoredModel, PrunedClassifier, BaseEstimator):  # type: ignore[misc]
    """Classifier with known scores."""

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self._interpreter.classes)


class ScoredRegressor(RegressorMixin, _ScoredModel, PrunedRegressor, BaseEstimator):  # type: ignore[misc]
    """Regressor with known scores."""


def scored_model(
    pruned: Pruning | Refit,
    prices: CostTable,
    options: SelectionOptions,
    X: Any,
    scores: NDArray[np.float64],
    early: EarlyLabels | None,
) -> PrunedModel:
    """Create a model for scorers from a pruning whose scores on `X` are known.

    If predictions that stop early may have other labels, `early` has these labels.
    """
    forest = pruned.unpruned if isinstance(pruned, Pruning) else pruned.forest
    model: _ScoredModel = ScoredClassifier() if forest.is_classifier else ScoredRegressor()
    model._pruned, model._prices = pruned, prices
    model.counting, model.threshold, model.tolerance = options.counting, options.threshold, options.tolerance
    model.slack_ = 0.0 if early is None else early.slack
    model._known_rows, model._known_scores, model._early = X, scores, early
    return model
