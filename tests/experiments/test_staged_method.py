"""Staged models in a task: trained on T and V, judged by cross-fitting, in the time that there is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import FeatureCosts
from budgetprune.staged import BudgetClassifier
from budgetprune_experiments import Options
from budgetprune_experiments import staged_method as _staged_method
from budgetprune_experiments.grids import QUICK
from budgetprune_experiments.methods import METHODS, STAGED
from budgetprune_experiments.miniboone import miniboone_split
from budgetprune_experiments.task import T_AND_V, Deadline, Task, evaluate_method


def task(seconds=0.0, class_weight=None, costs=None, scoring=None):
    return Task(
        miniboone_split(0, Options(quick=True, jobs=1)),
        costs or FeatureCosts(),
        RandomForestClassifier(2, class_weight=class_weight),
        lambda model, rows: float(np.mean(model.predict(rows.X) == rows.y)),
        scoring,
        grids=replace(QUICK, n_reported=6),
        seconds=seconds,
    )


@pytest.fixture
def fits(monkeypatch):
    """Estimators that were fitted, and on how many rows."""
    seen = []

    class Watched(BudgetClassifier):
        def fit(self, X, y, **others):
            seen.append((self, len(X)))
            return super().fit(X, y, **others)

    monkeypatch.setattr(_staged_method, "BudgetClassifier", Watched)
    return seen


def test_one_fit_on_t_and_v_gives_all_points(fits):
    some = task()
    points = list(METHODS[STAGED].curve(some))
    ((model, n_rows),) = fits
    assert n_rows == len(some.split.train) + len(some.split.val)
    assert [point.cost for point in points] == model.tradeoff_.cost.tolist()
    assert [point.score for point in points] == model.tradeoff_.score.tolist()
    assert {point.trained_on for point in points} == {T_AND_V}
    assert all(point.refit is None for point in points)
    X = some.split.test.X
    for point in points[::4]:
        expected, found = model.with_budget(point.cost), point.model()
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
        np.testing.assert_allclose(found.acquisition_cost(X), expected.acquisition_cost(X))
        prices = some.costs.resolve(X.shape[1])
        np.testing.assert_allclose(prices.total(found.sources_used(X)), found.acquisition_cost(X))


def test_it_is_told_what_the_contest_is_about(fits):
    costs = FeatureCosts(np.linspace(1, 2, 30))
    some = task(30.0, "balanced", costs, "balanced_accuracy")
    some.deadline = Deadline(30.0)
    some.deadline.charge("something shared", 29.5)
    list(METHODS[STAGED].curve(some))
    ((model, _),) = fits
    assert 0 <= model.time_limit <= 0.5
    assert model.costs is costs
    assert (model.class_weight, model.scoring) == ("balanced", "balanced_accuracy")
    assert (model.random_state, model.n_jobs) == (some.seed, some.jobs)


@pytest.mark.parametrize(("seconds", "limit"), [(0.0, 0.0), (np.inf, None)])
def test_time_that_is_over_and_time_without_end(fits, monkeypatch, seconds, limit):
    nothing = SimpleNamespace(cost=np.empty(0), score=np.empty(0))
    monkeypatch.setattr(BudgetClassifier, "fit", lambda self, X, y, **_: self)
    monkeypatch.setattr(BudgetClassifier, "tradeoff_", nothing)
    assert not list(METHODS[STAGED].curve(task(seconds)))
    ((model, _),) = fits
    assert model.time_limit == limit


def test_costs_are_counted_in_the_prices_that_are_given():
    plain, expensive = (
        evaluate_method(METHODS[STAGED], task(costs=costs))
        for costs in (None, FeatureCosts(np.full(30, 10.0)))
    )
    assert len(plain) == len(expensive) > 2
    for record, other in zip(plain, expensive, strict=True):
        assert other["test_cost"] == pytest.approx(10 * record["test_cost"])
        assert other["test_score"] == record["test_score"]
        assert record["trained_on"] == T_AND_V
