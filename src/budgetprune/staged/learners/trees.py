"""`GrownTrees`: base class of the trees that a learner returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.columns import FeatureSchema
from budgetprune.staged.data.sample import Scores
from budgetprune.utils.threads import kernel_threads


class GrownTrees(ABC):
    """Trees grown for a stage; their scores add to the start scores."""

    n_rounds: int
    # Total gain of the splits on each feature, if it was computed with the trees.
    known_gains: NDArray[np.float64] | None = None

    @abstractmethod
    def scores(self, rows: NDArray[np.float64]) -> Scores:
        """Compute the sum of the trees, of shape (n_rows, n_outputs)."""

    @abstractmethod
    def forest(self) -> Forest:
        """Return the trees."""


def single_thread_scores(forest: Forest, rows: NDArray[np.float64]) -> Scores:
    """Compute scores with one thread, because several models are evaluated in parallel, on few rows each."""
    with kernel_threads(1):
        return forest.scores(rows)


def map_to_all_features(forest: Forest, columns: NDArray[np.intp], about: FeatureSchema) -> Forest:
    """Renumber the features of a forest that was grown on some columns, so that it takes complete rows."""
    feature = np.where(forest.feature >= 0, columns[forest.feature], -1).astype(np.int32)
    return replace(
        forest,
        feature=feature,
        n_features=about.n_features,
        feature_names=about.names,
        categories=about.categories,
        # The trees have a side for missing values even if no training row had any.
        missing="nan",
        split_gain=None,
        origin=None,
    )
