"""`GrowTask`: what a learner is asked to grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import Sample, Scores


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown.

    Attributes
    ----------
    n_leaves : largest number of leaves of a tree
    extra : whether one random threshold is tried for each feature, instead of all
    learning_rate : float
    most_rounds : largest number of rounds of one stage
    least_rows : smallest number of rows in a leaf
    """

    n_leaves: int = 31
    extra: bool = True
    learning_rate: float = 0.1
    most_rounds: int = 500
    least_rows: int = 20


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """Rows that say when to stop, and the scores that they start with."""

    sample: Sample
    start: Scores | None


@dataclass(frozen=True, eq=False)
class GrowTask:
    """What is to be grown.

    Attributes
    ----------
    sample : Sample
    columns : of the features that may be tested
    start : scores of shape (n_rows, n_outputs) that the trees add to, or None
    n_rounds : int, or None
        None: as many as the validation rows ask for, at most ``settings.most_rounds``.
    settings : TreeSettings
    validation : ValidationRows, if `n_rounds` is None
    seed, n_threads : int
    is_over : callable
        Whether the time is over, so that training ends with the round that it is in.
    """

    sample: Sample
    columns: NDArray[np.intp]
    start: Scores | None
    n_rounds: int | None
    settings: TreeSettings
    validation: ValidationRows | None = None
    seed: int = 0
    n_threads: int = 1
    is_over: Callable[[], bool] = lambda: False
