"""`Trials`: models that are trained on some rows and evaluated on others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import Sample, Scores
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import Settings, Task
from budgetprune.staged.learners.trees import Grown
from budgetprune.staged.training.deadline import Deadline

# More rows change the order little.
MOST_ROWS = 30_000


@dataclass(frozen=True, eq=False)
class Division:
    """Rows that models are grown on, and others that judge them."""

    train: Sample
    test: Sample


@dataclass(frozen=True, eq=False)
class Trials:
    """How models are tried.

    Attributes
    ----------
    learner : Learner
    settings : Settings
    divisions : tuple of Division
        Losses are averages over all of them. One is enough if there are many rows.
    n_threads : int
    deadline : Deadline
    tell : called after each model
    """

    learner: Learner
    settings: Settings
    divisions: tuple[Division, ...]
    n_threads: int
    deadline: Deadline
    tell: Callable[[], Any] = lambda: None

    @property
    def train(self) -> Sample:
        """Training rows of the first division."""
        return self.divisions[0].train

    @property
    def test(self) -> Sample:
        """Other rows of the first division."""
        return self.divisions[0].test

    def grow(self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int, number: int = 0) -> Grown:
        """Grow a model on the training rows of a division."""
        grown = self.learner.grow(
            Task(
                self.divisions[number].train,
                columns,
                start,
                n_rounds,
                self.settings,
                n_threads=self.n_threads,
                is_over=self.deadline.is_over,
            )
        )
        self.tell()
        return grown
