"""`Learner`: what grows the trees of a stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetprune._threads import VALUES_PER_THREAD
from budgetprune.staged._grown import Constant
from budgetprune.staged._sample import Grown, Sample, Scores, Settings, Validation

# Training ends if the loss on other rows has not fallen for this many rounds.
PATIENCE = 20


class Learner(ABC):
    """Grow trees on some columns of a sample.

    Attributes
    ----------
    decay : float
        By what a stage multiplies the scores of the stage before, which its trees add to. 0: each stage is a
        model of its own.
    """

    decay: float

    def grow(
        self,
        sample: Sample,
        columns: NDArray[np.intp],
        start: Scores | None,
        n_rounds: int | None,
        settings: Settings,
        *,
        validation: Validation | None = None,
        seed: int = 0,
        n_threads: int = 1,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Grown:
        """Grow trees that add to the scores that they are started with.

        Parameters
        ----------
        sample : Sample
        columns : of the features that may be tested
        start : scores of shape (n_rows, n_outputs), or None
        n_rounds : int, or None
            None: as many as the validation rows ask for, at most ``settings.most_rounds``.
        settings : Settings
        validation : Validation, if `n_rounds` is None
        seed, n_threads : int
        is_over : callable
            Whether the time is over, so that training ends with the round that it is in.
        """
        if not columns.size:
            return Constant(sample, start)
        # Threads that have little to do wait for each other longer than they work.
        n_threads = min(n_threads, max(1, len(sample) * columns.size // VALUES_PER_THREAD))
        return self._grow(sample, columns, start, n_rounds, settings, validation, seed, n_threads, is_over)

    @abstractmethod
    def _grow(
        self,
        sample: Sample,
        columns: NDArray[np.intp],
        start: Scores | None,
        n_rounds: int | None,
        settings: Settings,
        validation: Validation | None,
        seed: int,
        n_threads: int,
        is_over: Callable[[], bool],
    ) -> Grown:
        """See `grow`."""

    @abstractmethod
    def gains(self, grown: Grown, n_features: int) -> NDArray[np.float64]:
        """Add up by how much the splits on each feature lowered the loss."""
