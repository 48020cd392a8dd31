"""Other budgets of pruned models: points of their paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.report import summarise
from budgetprune.workflow import point_within, rebudget_model

from ..report.models import case, summary_of


@pytest.mark.parametrize("name", ["cancer", "wine", "diabetes"])  # decided costs, full costs, regression
def test_a_budget_of_the_report_gives_the_point_that_is_shown(name):
    found, summary = case(name), summary_of(name)
    n_checked = 0
    for point in summary.points:
        if point.kind != "path" or point.budget is None:
            continue
        other = rebudget_model(found.model, float(point.budget))
        assert other.about.lam == point.lam
        own = other.predictor
        if point.lam != summary.points[summary.delivered].lam:
            simulation = own.simulate(found.X)
            assert own.forest.n_splits == point.n_splits
            assert simulation.cost.mean() == pytest.approx(point.decided.cost)
            assert (
                np.mean(own.predict(found.X) == found.y) == pytest.approx(point.full.score)
                or name == "diabetes"
            )
            n_checked += 1
    assert n_checked > 3


def test_the_own_point_keeps_its_leaves():
    found = case("wine")
    budget = float(summary_of("wine").points[summary_of("wine").delivered].budget)
    same = rebudget_model(found.model, budget)
    np.testing.assert_array_equal(same.predictor.forest.value, found.predictor.forest.value)
    assert (same.about.budget, same.about.choices) == (budget, found.model.about.choices)
    other = rebudget_model(found.model, 12.0)
    assert other.about.choices == "leaf values as grown"
    assert (
        summarise(other, found.X, found.y, n_examples=0).points[-1].n_splits
        == found.model.path.forest.n_splits
    )


def test_budgets_of_a_path():
    found = case("wine")
    path, about = found.model.path, found.model.about
    assert [point_within(path, about, float(cost)) for cost in path.cost] == list(range(len(path)))
    assert point_within(path, about, None) == int(np.argmax(about.tradeoff["score"]))
    assert point_within(path, None, None) == 0
    assert point_within(path, replace(about, tradeoff=None), path.cost[2] + 1e-3) == 2


def test_budgets_that_are_too_small():
    found = case("wine")
    with pytest.raises(InvalidInputError, match=r"a budget of 0\.5 is too small.* useful point costs 1 per"):
        rebudget_model(found.model, 0.5)
    decided = case("cancer").model
    with pytest.raises(InvalidInputError, match=r"useful point costs 1\.4 per prediction"):
        rebudget_model(decided, 0.5)
    assert rebudget_model(decided, 1.4).predictor.forest.n_splits > 0
    with pytest.raises(InvalidInputError, match="no path with it"):
        rebudget_model(replace(found.model, path=None), 5.0)
