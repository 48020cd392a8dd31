"""`GrowTask`: inputs of a learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import LearningSample, Scores


@dataclass(frozen=True)
class TreeSettings:
    """Hyperparameters of the trees.

    Attributes
    ----------
    n_leaves : maximum number of leaves of a tree
    extra : whether each split tries one random threshold per feature, instead of all
    learning_rate : float
    most_rounds : maximum number of rounds of one stage
    least_rows : minimum number of rows in a leaf
    """

    n_leaves: int = 31
    extra: bool = True
    learning_rate: float = 0.1
    most_rounds: int = 500
    least_rows: int = 20


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """Rows for early stopping, and their start scores."""

    sample: LearningSample
    start: Scores | None


@dataclass(frozen=True, eq=False)
class GrowTask:
    """Inputs of a learner.

    Attributes
    ----------
    sample : LearningSample
    columns : int array
        Features that may be tested.
    start : float64 array of shape (n_rows, n_outputs), or None
        Scores that the trees add to.
    n_rounds : int, or None
        None: chosen by early stopping, at most ``settings.most_rounds``.
    settings : TreeSettings
    validation : ValidationRows, or None
        For early stopping, if `n_rounds` is None.
    seed, n_threads : int
    is_over : callable
        Whether the deadline has passed; training then ends after the current round.
    """

    sample: LearningSample
    columns: NDArray[np.intp]
    start: Scores | None
    n_rounds: int | None
    settings: TreeSettings
    validation: ValidationRows | None = None
    seed: int = 0
    n_threads: int = 1
    is_over: Callable[[], bool] = lambda: False
