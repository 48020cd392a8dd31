"""Ensembles as their libraries grow them, with a price list: the rivals that do nothing about costs."""

from __future__ import annotations

from typing import Any

from budgetprune.baselines._grown import GrownForest


class PlainForest(GrownForest):
    """Know what an ordinary ensemble costs: grow it as its library does, and prune nothing.

    Parameters
    ----------
    estimator : estimator, optional
        A forest that grows to the end, or one that `max_depth` stops early; whatever `Forest.from_model`
        takes. Frozen (`sklearn.frozen.FrozenEstimator`), it is not trained. None means
        ``RandomForestClassifier()``.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    random_state, n_jobs : optional
        For the estimator, where it leaves them open.

    Attributes
    ----------
    estimator_ : the fitted estimator
    forest_ : Forest
    classes_ : array of shape (n_classes,), for classifiers
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PlainForest:
        """Grow the ensemble, unless it is frozen."""
        _, forest = self._grow(X, y, sample_weight)
        self._take(forest)
        return self
