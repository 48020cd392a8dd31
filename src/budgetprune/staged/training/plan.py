"""`StagePlan`: the stages to train; `StageSpec`: settings and rounds of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.learners.learner import FEWEST_ROUNDS
from budgetprune.staged.learners.task import TreeSettings

# Fixed time of a boosting round, in units of the time per column.
COLUMNS_OF_ROUND = 5
# With fewer rounds for lack of time, the learning rate is raised up to this value.
LARGEST_RATE = 0.3


def speed_up(n_jobs: int) -> float:
    """Estimate conservatively how much faster chains train in parallel than one after the other."""
    return 1.0 if n_jobs == 1 else 1.5


def relative_time(columns: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Relative training time of each stage: it grows with the columns, and the last stage has more rounds."""
    found = np.array([COLUMNS_OF_ROUND + each.size for each in columns], dtype=np.float64)
    found[-1] *= 2
    return found


@dataclass(frozen=True)
class StageSpec:
    """Settings and number of rounds of one stage.

    Attributes
    ----------
    settings : TreeSettings
    n_rounds : int, or None
        None: chosen by early stopping on validation rows.
    seconds : float
        Training time in the first fold.
    """

    settings: TreeSettings
    n_rounds: int | None
    seconds: float = 0.0

    def shortened(self, share: float) -> StageSpec:
        """Return a specification with a share of the rounds and a higher learning rate."""
        assert self.n_rounds is not None
        rate = self.settings.learning_rate
        return StageSpec(
            replace(self.settings, learning_rate=max(rate, min(LARGEST_RATE, rate / share))),
            min(self.n_rounds, max(FEWEST_ROUNDS, int(share * self.n_rounds))),
            share * self.seconds,
        )


@dataclass(frozen=True, eq=False)
class StagePlan:
    """Sources and columns of the stages to train.

    Attributes
    ----------
    sources : for each stage, the sources that it acquires
    columns : for each stage, the features that are available
    """

    sources: tuple[tuple[int, ...], ...]
    columns: tuple[NDArray[np.intp], ...]
