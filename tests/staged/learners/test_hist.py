"""Stages of HistGradientBoosting: the best number of rounds, and an end when the time is over."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from budgetprune.staged.data.columns import columns_of
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.hist import HistLearner
from budgetprune.staged.learners.learner import FEWEST_ROUNDS, PATIENCE
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.learners.task import GrowTask, TreeSettings, ValidationRows

SETTINGS = TreeSettings(n_leaves=8, learning_rate=0.3, most_rounds=120, least_rows=5)
LOADERS = {"binary": load_breast_cancer, "multiclass": load_wine}


def halves(kind):
    X, y = LOADERS[kind](return_X_y=True)
    X = X[:, :5]
    n_outputs = 1 if kind == "binary" else 3
    return [LearningSample(X[i::2], y[i::2], None, columns_of(X, None), kind, n_outputs) for i in (0, 1)]


def grow(kind, n_rounds=None, is_over=lambda: False):
    train, test = halves(kind)
    columns = np.arange(5)
    task = GrowTask(train, columns, None, n_rounds, SETTINGS, ValidationRows(test, None), is_over=is_over)
    return HistLearner().grow(task)


@pytest.mark.parametrize("kind", LOADERS)
def test_the_number_of_rounds_is_the_best_one(kind):
    """Compared with models of each number of rounds, as far as early stopping looks."""
    best = grow(kind)
    _, test = halves(kind)
    losses = [mean_loss(test, grow(kind, n).scores(test.rows)) for n in range(1, best.n_rounds + PATIENCE)]
    assert best.n_rounds == int(np.argmin(losses)) + 1
    assert mean_loss(test, best.scores(test.rows)) == pytest.approx(min(losses))
    assert best.forest().n_trees == best.n_rounds * (1 if kind == "binary" else 3)


@pytest.mark.parametrize("n_rounds", [None, 100])
def test_training_ends_when_the_time_is_over(n_rounds):
    n_calls = iter(range(10_000))
    late = grow("binary", n_rounds, is_over=lambda: next(n_calls) >= 3)
    assert 1 <= late.n_rounds <= FEWEST_ROUNDS + 4
    over = grow("binary", n_rounds, is_over=lambda: True)
    assert 1 <= over.n_rounds <= FEWEST_ROUNDS + 1
    if n_rounds:
        assert over.n_rounds >= FEWEST_ROUNDS
        assert late.n_rounds > over.n_rounds
