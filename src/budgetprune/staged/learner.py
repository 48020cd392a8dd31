"""`Learner`: what grows the trees of a stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.grown import Constant
from budgetprune.staged.sample import Grown, Sample, Scores, Settings, Validation
from budgetprune.utils.threads import VALUES_PER_THREAD

# Training ends if the loss on other rows has not fallen for this many rounds.
PATIENCE = 20
# Rounds that are trained even if the time is over.
FEWEST_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be grown.

    Attributes
    ----------
    sample : Sample
    columns : of the features that may be tested
    start : scores of shape (n_rows, n_outputs) that the trees add to, or None
    n_rounds : int, or None
        None: as many as the validation rows ask for, at most ``settings.most_rounds``.
    settings : Settings
    validation : Validation, if `n_rounds` is None
    seed, n_threads : int
    is_over : callable
        Whether the time is over, so that training ends with the round that it is in.
    """

    sample: Sample
    columns: NDArray[np.intp]
    start: Scores | None
    n_rounds: int | None
    settings: Settings
    validation: Validation | None = None
    seed: int = 0
    n_threads: int = 1
    is_over: Callable[[], bool] = lambda: False


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

    def grow(self, task: Task) -> Grown:
        """Grow trees that add to the scores that they are started with."""
        if not task.columns.size:
            return self._constant(task)
        # Threads that have little to do wait for each other longer than they work.
        n_values = len(task.sample) * task.columns.size
        return self._grow(replace(task, n_threads=min(task.n_threads, max(1, n_values // VALUES_PER_THREAD))))

    def _constant(self, task: Task) -> Grown:
        """Answer all rows alike."""
        return Constant(task.sample, task.start)

    @abstractmethod
    def _grow(self, task: Task) -> Grown:
        """Grow at least one tree."""

    @abstractmethod
    def gains(self, grown: Grown, n_features: int) -> NDArray[np.float64]:
        """Add up by how much the splits on each feature lowered the loss."""
