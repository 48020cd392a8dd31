"""`Learner`: base class of the learners that grow the trees of a stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.learners.constant import ConstantScore
from budgetprune.staged.learners.task import GrowTask
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.utils.threads import VALUES_PER_THREAD

# Early stopping: rounds without a lower loss on validation rows.
PATIENCE = 20
# Minimum number of rounds, trained even after the deadline.
FEWEST_ROUNDS = 5


class Learner(ABC):
    """Grow trees on some columns of a sample.

    Attributes
    ----------
    name : str
        Value of the parameter `learner`.
    decay : float
        Factor of the scores of the stage before, to which the trees of a stage add. 0: each stage is a model
        of its own.
    """

    name: ClassVar[str]
    decay: ClassVar[float]
    # Whether several models can be grown at the same time by calls from several threads, on other processors.
    is_remote: ClassVar[bool] = False

    def grow(self, task: GrowTask) -> GrownTrees:
        """Grow trees that add to the start scores of the task."""
        if not task.columns.size:
            return self._constant(task)
        # With little work per thread, threads spend most of their time waiting for each other.
        n_values = len(task.sample) * task.columns.size
        return self._grow(replace(task, n_threads=min(task.n_threads, max(1, n_values // VALUES_PER_THREAD))))

    def _constant(self, task: GrowTask) -> GrownTrees:
        """Return a constant score for all rows."""
        return ConstantScore(task.sample, task.start)

    @abstractmethod
    def _grow(self, task: GrowTask) -> GrownTrees:
        """Grow at least one tree."""

    @abstractmethod
    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        """Total gain of the splits on each feature, of shape (n_features,)."""
