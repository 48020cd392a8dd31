"""Histograms of cost, and sources with a line of their own."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report.aggregate.outcomes import MOST_LISTED, SourceTable, histogram


def test_sources_that_most_rows_acquire_are_listed():
    """All others are acquired by few rows, and make up little of the cost."""
    n_cheap, n_dear = 20, 40
    price = np.repeat([0.01, 100.0], [n_cheap, n_dear])
    names = tuple(map(str, range(price.size)))
    share = np.repeat([1.0, 0.004], [n_cheap, n_dear])
    reference = np.ones(price.size)
    reference[-1] = 30.0  # nearly half of the cost of the reference
    order = np.argsort(-price * share, kind="stable")
    lines, others = SourceTable(names, price, order).lines(share, reference)
    assert len(lines) == MOST_LISTED
    listed = [int(order[line.source]) for line in lines]
    assert set(range(n_cheap)) <= set(listed)
    assert price.size - 1 in listed
    assert [line.source for line in lines] == sorted(line.source for line in lines)
    assert (others.number, others.largest_share) == (price.size - MOST_LISTED, 0.004)
    total = sum(line.cost for line in lines) + others.cost
    assert total == pytest.approx(price @ share)
    total = sum(line.reference_cost for line in lines) + others.reference_cost
    assert total == pytest.approx(price @ reference)


def test_sources_that_no_model_acquires_have_no_line():
    lines, others = SourceTable(("a", "b"), np.ones(2), np.arange(2)).lines(np.zeros(2), np.array([0.0, 0.5]))
    assert [line.source for line in lines] == [1]
    assert (others.number, others.largest_share, others.cost, others.reference_cost) == (1, 0, 0, 0)
    nothing = SourceTable((), np.empty(0), np.empty(0, dtype=np.intp)).lines(np.empty(0), np.empty(0))
    assert nothing[0] == ()


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
