"""Ensembles as their libraries grow them, with a price list: the rivals that do nothing about costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.baselines.curve import PruningCurve, check_forest_is_one
from budgetprune.baselines.grown import GrownForest
from budgetprune.forest import Forest


def depth_curve(forest: Forest) -> PruningCurve:
    """Cut level after level off a forest: what `max_depth` would have stopped earlier, from one forest.

    Trees are grown from the top, so that a limit on their depth changes nothing above it but which random
    numbers are drawn: for features that a split may choose from, and where splits tie.

    Parameters
    ----------
    forest : Forest

    Returns
    -------
    PruningCurve
        Its parameter is the number of levels that are gone: at point ``k``, trees have at most ``D - k``,
        where ``D`` is the depth of the deepest.
    """
    check_forest_is_one(forest)
    deepest = int(forest.depth.max())
    until = np.where(forest.is_split, deepest - forest.depth, 0)
    return PruningCurve(forest, np.arange(deepest + 1, dtype=np.float64), until)


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
