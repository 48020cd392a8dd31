"""`PlainForest`: unpruned ensembles with feature costs, and depth-limited forests."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.baselines.curve import PruningCurve, check_is_forest
from budgetprune.baselines.grown import GrownForest
from budgetprune.forest import Forest


def depth_curve(forest: Forest) -> PruningCurve:
    """Remove levels from a forest one by one: the forests of every `max_depth`, from a single fit.

    Trees are grown from the root, so a depth limit changes nothing above it except the random numbers
    drawn: for the features that a split may choose from, and for ties.

    Parameters
    ----------
    forest : Forest

    Returns
    -------
    PruningCurve
        Its parameter is the number of levels removed: at point ``k``, trees have at most ``D - k``,
        where ``D`` is the depth of the deepest.
    """
    check_is_forest(forest)
    deepest = int(forest.depth.max())
    until = np.where(forest.is_split, deepest - forest.depth, 0)
    return PruningCurve(forest, np.arange(deepest + 1, dtype=np.float64), until)


class PlainForest(GrownForest):
    """Ordinary ensemble with feature costs, not pruned.

    Parameters
    ----------
    estimator : estimator, optional
        Any estimator that `Forest.from_model` accepts, such as a forest with or without `max_depth`.
        Frozen (`sklearn.frozen.FrozenEstimator`), it is not trained. None means
        ``RandomForestClassifier()``.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    random_state, n_jobs : optional
        For the estimator, if its own values are None.

    Attributes
    ----------
    estimator_ : the fitted estimator
    forest_ : Forest
    classes_ : array of shape (n_classes,), for classifiers
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PlainForest:
        """Grow the ensemble, unless it is frozen."""
        _, forest = self._grow(X, y, sample_weight)
        self._store(forest)
        return self
