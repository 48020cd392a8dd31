"""Histograms of cost."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report.aggregate.outcomes import histogram


def test_few_and_many_costs():
    few = histogram(np.array([0.0, 2.0, 2.0, 5.0]))
    assert (few.left[0], few.width) == (-0.5, 1)
    assert few.share == (0.25, 0, 0.5, 0, 0, 0.25)
    many = histogram(np.random.default_rng(0).uniform(0, 7, 1000))
    assert (many.left[0], many.width) == (0, 0.5)
    assert sum(many.share) == pytest.approx(1, abs=1e-3)
    assert histogram(np.zeros(3)).share == (1,)
    assert histogram(np.array([4e-4, 8e-4, 9e-4])).width == 5e-5
    assert histogram(np.array([2.5, 7.5])).width == 2.5
    assert histogram(np.array([2e50, 7e50])).width == pytest.approx(5e49)
    assert sum(histogram(np.array([1e-50, 1e50])).share) == 1
    assert (few.is_open, many.is_open) == (False, False)


def test_outliers():
    far = histogram(np.array([1.0] * 60 + [2.0] * 39 + [300.0]))
    assert far.is_open
    assert far.left == (-0.5, 0.5, 1.5, 2.5)
    assert far.share == (0, 0.6, 0.39, 0.01)
    smooth = histogram(np.append(np.random.default_rng(0).uniform(0, 1, 999), 50.0))
    assert smooth.is_open
    assert smooth.share[-1] == pytest.approx(0.02, abs=0.02)
    assert smooth.left[-1] <= 1.0
    assert sum(smooth.share) == pytest.approx(1, abs=1e-3)
