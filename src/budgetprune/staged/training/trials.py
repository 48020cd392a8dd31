"""`TrialTrainer`: trains models on train-test splits, to compare settings and orders of sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import LearningSample, Scores
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.training.deadline import Deadline

# Maximum number of training or test rows; more rows change the order of sources little.
MOST_ROWS = 30_000


@dataclass(frozen=True, eq=False)
class TrialSplit:
    """Training rows and test rows of a trial."""

    train: LearningSample
    test: LearningSample


@dataclass(frozen=True, eq=False)
class TrialTrainer:
    """Train models on the training rows of train-test splits.

    Attributes
    ----------
    learner : Learner
    settings : TreeSettings
    splits : tuple of TrialSplit
        Losses are summed over all splits. With many rows, one split is enough.
    n_threads : int
    deadline : Deadline
    on_progress : callable
        Called after each model.
    """

    learner: Learner
    settings: TreeSettings
    splits: tuple[TrialSplit, ...]
    n_threads: int
    deadline: Deadline
    on_progress: Callable[[], Any] = lambda: None

    @property
    def train(self) -> LearningSample:
        """Training rows of the first split."""
        return self.splits[0].train

    @property
    def test(self) -> LearningSample:
        """Test rows of the first split."""
        return self.splits[0].test

    def grow(
        self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int, number: int = 0
    ) -> GrownTrees:
        """Grow a model on the training rows of split `number`."""
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
