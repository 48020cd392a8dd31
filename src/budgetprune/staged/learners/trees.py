"""`GrownTrees`: the trees of a stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.columns import Columns
from budgetprune.staged.data.sample import Scores
from budgetprune.utils.threads import kernel_threads


class GrownTrees(ABC):
    """Trees that were grown for a stage; they add to the scores that they were started with."""

    n_rounds: int

    @abstractmethod
    def scores(self, rows: NDArray[np.float64]) -> Scores:
        """Add up what the trees answer, of shape (n_rows, n_outputs)."""

    @abstractmethod
    def forest(self) -> Forest:
        """Return the trees."""


def single_thread_scores(forest: Forest, rows: NDArray[np.float64]) -> Scores:
    """Compute scores with one thread: several models are tried at the same time, on few rows each."""
    with kernel_threads(1):
        return forest.scores(rows)


def map_to_all_features(forest: Forest, columns: NDArray[np.intp], about: Columns) -> Forest:
    """Let a forest that was grown on some columns test the same columns of complete rows."""
    feature = np.where(forest.feature >= 0, columns[forest.feature], -1).astype(np.int32)
    return replace(
        forest,
        feature=feature,
        n_features=about.n_features,
        feature_names=about.names,
        categories=about.categories,
        # Libraries that saw no missing value send one somewhere, too.
        missing="nan",
        split_gain=None,
        origin=None,
    )
