"""`StagePlan`: the stages to train; `StageSpec`: settings and rounds of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.learners.learner import FEWEST_ROUNDS
from budgetprune.staged.learners.task import TreeSettings

# Time of a round, relative to that for one more column, that it takes for any number of columns.
COLUMNS_OF_ROUND = 5
# If there are fewer rounds because the time is short, each counts more, up to this learning rate.
LARGEST_RATE = 0.3


def speed_up(n_jobs: int) -> float:
    """How many times as fast some chains are trained at the same time, by a cautious estimate."""
    return 1.0 if n_jobs == 1 else 1.5


def relative_time(columns: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Time of each stage relative to the others: rounds on more columns take longer, the last has more."""
    found = np.array([COLUMNS_OF_ROUND + each.size for each in columns], dtype=np.float64)
    found[-1] *= 2
    return found


@dataclass(frozen=True)
class StageSpec:
    """How the trees of a stage are grown.

    Attributes
    ----------
    settings : TreeSettings
    n_rounds : int, or None
        None: as many as validation rows ask for.
    seconds : float
        What it took in the first fold.
    """

    settings: TreeSettings
    n_rounds: int | None
    seconds: float = 0.0

    def shortened(self, share: float) -> StageSpec:
        """Return the same with a share of the rounds, and with larger steps."""
        assert self.n_rounds is not None
        rate = self.settings.learning_rate
        return StageSpec(
            replace(self.settings, learning_rate=max(rate, min(LARGEST_RATE, rate / share))),
            min(self.n_rounds, max(FEWEST_ROUNDS, int(share * self.n_rounds))),
            share * self.seconds,
        )


@dataclass(frozen=True, eq=False)
class StagePlan:
    """What is trained: the columns of each stage, and how.

    Attributes
    ----------
    sources : for each stage, the sources that are bought for it
    columns : for each stage, the features that are available
    """

    sources: tuple[tuple[int, ...], ...]
    columns: tuple[NDArray[np.intp], ...]
