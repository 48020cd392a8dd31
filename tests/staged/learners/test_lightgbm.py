"""Stages of LightGBM: random thresholds reach all values."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.staged.data.columns import columns_of
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.task import GrowTask, TreeSettings

pytest.importorskip("lightgbm")
from budgetprune.staged.learners.lightgbm import LightGBMLearner


def sample_of(X, y):
    return LearningSample(X, y, None, columns_of(X, None), "binary", 1)


@pytest.mark.parametrize("unit", [1.0, -1.0, 1e-30, 1e300])
@pytest.mark.parametrize("extreme", ["first", "last"])
def test_random_thresholds_tell_the_last_value_from_the_others(unit, extreme):
    """LightGBM alone leaves the highest threshold out."""
    random = np.random.default_rng(0)
    column = random.integers(1, 5, 1000)
    y = (column == (1 if extreme == "first" else 4)).astype(np.float64)
    X = np.column_stack([column * unit, random.normal(size=1000)])
    grown = LightGBMLearner().grow(
        GrowTask(sample_of(X, y), np.arange(2), None, 60, TreeSettings(extra=True, least_rows=5))
    )
    scores = grown.scores(X)[:, 0]
    assert scores[y == 1].min() > 0 > scores[y == 0].max()


def test_missing_and_infinite_values():
    random = np.random.default_rng(0)
    column = random.choice([0.0, 1.0, 2.0, np.nan, -np.inf], 1000)
    y = (column == 2).astype(np.float64)
    X = column[:, None]
    grown = LightGBMLearner().grow(
        GrowTask(sample_of(X, y), np.arange(1), None, 80, TreeSettings(extra=True, least_rows=5))
    )
    scores = grown.scores(X)[:, 0]
    assert scores[y == 1].min() > 0 > scores[y == 0].max()
