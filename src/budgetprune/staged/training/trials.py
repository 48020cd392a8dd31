"""`TrialTrainer`: models that are trained on some rows and evaluated on others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import Sample, Scores
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.training.deadline import Deadline

# More rows change the order little.
MOST_ROWS = 30_000


@dataclass(frozen=True, eq=False)
class TrialSplit:
    """Rows that models are grown on, and others that judge them."""

    train: Sample
    test: Sample


@dataclass(frozen=True, eq=False)
class TrialTrainer:
    """How models are tried.

    Attributes
    ----------
    learner : Learner
    settings : TreeSettings
    divisions : tuple of TrialSplit
        Losses are averages over all of them. One is enough if there are many rows.
    n_threads : int
    deadline : Deadline
    tell : called after each model
    """

    learner: Learner
    settings: TreeSettings
    splits: tuple[TrialSplit, ...]
    n_threads: int
    deadline: Deadline
    on_progress: Callable[[], Any] = lambda: None

    @property
    def train(self) -> Sample:
        """Training rows of the first division."""
        return self.splits[0].train

    @property
    def test(self) -> Sample:
        """Other rows of the first division."""
        return self.splits[0].test

    def grow(
        self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int, number: int = 0
    ) -> GrownTrees:
        """Grow a model on the training rows of a division."""
        grown = self.learner.grow(
            GrowTask(
                self.splits[number].train,
                columns,
                start,
                n_rounds,
                self.settings,
                n_threads=self.n_threads,
                is_over=self.deadline.is_over,
            )
        )
        self.on_progress()
        return grown
