"""Choice of tree settings by coordinate search on a train-test split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.learners.calibration import calibrated_loss
from budgetprune.staged.learners.task import TreeSettings
from budgetprune.staged.training.trials import TrialTrainer
from budgetprune.utils.threads import map_in_threads

# Rounds of a trial, and maximum for a stage, so that settings are compared at the size that is used.
N_ROUNDS = 150
# The last stage, which has all features, has up to this many times as many rounds.
LAST_STAGE_FACTOR = 3
# Values are tried in order, away from the usual one, until one is no better than the one before.
_LEAVES, _RATES = (15, 31, 63, 127, 255), (0.05, 0.1, 0.2, 0.3)
_USUAL_LEAVES, _USUAL_RATE = 31, 0.1
# Minimum rows per leaf: small leaves overfit, and with few rows large leaves underfit.
_ROWS_PER_LEAF = (5, 20, 60)


def choose_settings(trials: TrialTrainer, columns: NDArray[np.intp]) -> TreeSettings:
    """Return the settings with the lowest loss on the test rows, for a model on the given columns.

    One setting is changed at a time, as long as the loss falls.
    """
    n_rows = len(trials.train)

    def loss(settings: TreeSettings) -> float:
        own = replace(trials, settings=settings)

        def of_split(number: int) -> float:
            test = trials.splits[number].test
            return calibrated_loss(test, own.grow(columns, None, N_ROUNDS, number).scores(test.rows))

        # In this process, one model is grown by all threads.
        n_at_once = trials.n_threads if trials.learner.is_remote else 1
        return sum(map_in_threads(of_split, range(len(trials.splits)), n_at_once))

    small = n_rows < 40 * _ROWS_PER_LEAF[1]
    best = TreeSettings(most_rounds=N_ROUNDS, least_rows=_ROWS_PER_LEAF[0] if small else _ROWS_PER_LEAF[1])
    best_loss = loss(best)
    for change in _changes(n_rows):
        for settings in change(best):
            if trials.deadline.is_over():
                return best
            found = loss(settings)
            if found >= best_loss:
                break
            best, best_loss = settings, found
    return best


def _changes(n_rows: int) -> Iterator[Callable[[TreeSettings], Iterator[TreeSettings]]]:
    yield lambda now: (replace(now, n_leaves=n) for n in _LEAVES if n > _USUAL_LEAVES and 20 * n <= n_rows)
    yield lambda now: (
        replace(now, n_leaves=n)
        for n in reversed(_LEAVES)
        if n < _USUAL_LEAVES and now.n_leaves == _USUAL_LEAVES
    )
    yield lambda now: iter([replace(now, extra=False)])
    yield lambda now: (replace(now, learning_rate=rate) for rate in _RATES if rate > _USUAL_RATE)
    yield lambda now: (
        replace(now, learning_rate=rate)
        for rate in reversed(_RATES)
        if rate < _USUAL_RATE and now.learning_rate == _USUAL_RATE
    )
    yield lambda now: iter([replace(now, least_rows=_ROWS_PER_LEAF[2])] if n_rows > 4000 else [])
