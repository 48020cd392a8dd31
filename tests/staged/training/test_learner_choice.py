"""Forests grow the stages where they are clearly better than boosted trees."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from budgetprune import BudgetClassifier
from budgetprune.staged.training import learner_choice as _choice

from ..conftest import COSTS, X_TRAIN, Y_TRAIN
from ..learners.test_forest import WINE, sample_of


@pytest.mark.parametrize("expected", [True, False])
def test_the_better_one_grows_the_stages(monkeypatch, expected):
    monkeypatch.setattr(_choice, "_is_significantly_better", lambda *_: expected)
    X, y = WINE
    model = BudgetClassifier(cv=3, random_state=0).fit(X[:, :4], y)
    assert (model.learner_ == "forest") is expected


def test_forests_are_no_candidate_with_categories_or_many_rows(monkeypatch):
    monkeypatch.setattr(_choice, "_is_significantly_better", lambda *_: True)
    model = BudgetClassifier(COSTS, random_state=0, time_limit=0.5).fit(X_TRAIN, Y_TRAIN > 0)
    assert model.learner_ != "forest"
    monkeypatch.setattr(_choice, "MOST_ROWS_OF_FORESTS", 100)
    X, y = WINE
    assert BudgetClassifier(cv=3, random_state=0).fit(X[:, :4], y).learner_ != "forest"


@pytest.mark.parametrize(("gain", "expected"), [(0.5, True), (0.05, False), (0.0, False), (-0.5, False)])
@pytest.mark.parametrize("is_over", [True, False])
def test_clearly_better_means_more_than_chance(monkeypatch, gain, expected, is_over):
    """Differences of 100 rows with a standard deviation of 1 have a standard error of 0.1."""
    losses = {"one": -gain - np.tile([-1.0, 1.0], 25), "other": np.zeros(50)}
    monkeypatch.setattr(_choice, "_losses", lambda way, *_: losses[way])
    sample = sample_of(np.zeros((100, 1)), np.zeros(100, dtype=int))
    folds = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    trials = SimpleNamespace(deadline=SimpleNamespace(is_over=lambda: is_over))
    compared = _choice.LearnerComparison(trials, np.arange(1), sample, folds, 0)
    assert _choice._is_significantly_better("one", "other", compared) is (expected and not is_over)
