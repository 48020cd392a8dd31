"""`Learner`: what grows the trees of a stage."""

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

# Training ends if the loss on other rows has not fallen for this many rounds.
PATIENCE = 20
# Rounds that are trained even if the time is over.
FEWEST_ROUNDS = 5


class Learner(ABC):
    """Grow trees on some columns of a sample.

    Attributes
    ----------
    name : str
        As users call it.
    decay : float
        By what a stage multiplies the scores of the stage before, which its trees add to. 0: each stage is a
        model of its own.
    """

    name: ClassVar[str]
    decay: ClassVar[float]

    def grow(self, task: GrowTask) -> GrownTrees:
        """Grow trees that add to the scores that they are started with."""
        if not task.columns.size:
            return self._constant(task)
        # Threads that have little to do wait for each other longer than they work.
        n_values = len(task.sample) * task.columns.size
        return self._grow(replace(task, n_threads=min(task.n_threads, max(1, n_values // VALUES_PER_THREAD))))

    def _constant(self, task: GrowTask) -> GrownTrees:
        """Answer all rows alike."""
        return ConstantScore(task.sample, task.start)

    @abstractmethod
    def _grow(self, task: GrowTask) -> GrownTrees:
        """Grow at least one tree."""

    @abstractmethod
    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        """Add up by how much the splits on each feature lowered the loss."""
