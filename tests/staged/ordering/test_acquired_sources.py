"""What can be bought next, how sources become stages, and what small budgets get."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetClassifier, FeatureCosts
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.ordering.stages import join_steps

SHARED = FeatureCosts(
    [0, 1, 2, 3, 4], groups=[None, None, "draw", "draw", None], group_costs={"draw": 10}
).resolve(5)


def test_shared_sources_are_paid_once():
    acquired = AcquiredSources(SHARED)
    assert acquired.columns().tolist() == [0]
    prices = {step.sources: step.price for step in acquired.steps()}
    assert prices == {(1,): 1, (2, 5): 12, (3, 5): 13, (4,): 4}
    acquired.acquire(Step((2, 5), 12.0))
    assert acquired.columns().tolist() == [0, 2]
    assert {step.sources: step.price for step in acquired.steps()} == {(1,): 1, (3,): 3, (4,): 4}


@pytest.mark.parametrize("bought", [(), (2, 5)])
def test_gains_are_those_of_the_features_that_become_available(bought):
    acquired = AcquiredSources(SHARED)
    acquired.has[list(bought)] = True
    gains = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    steps = acquired.steps()
    by_definition = [
        gains[np.setdiff1d(acquired.columns(step.sources), acquired.columns())].sum() for step in steps
    ]
    assert acquired.gains(steps, gains).tolist() == by_definition


def test_only_what_is_offered_can_be_bought():
    acquired = AcquiredSources(SHARED, SHARED.price < 5)
    assert {step.sources for step in acquired.steps()} == {(1,), (4,)}
    assert acquired.offered_columns().tolist() == [0, 1, 4]


@pytest.mark.parametrize("n_steps", [0, 1, 9, 40, 300])
def test_stages_buy_all_steps_once(n_steps):
    order = [Step((s,), 1.0) for s in range(n_steps)]
    stages = join_steps(order, 20)
    assert len(stages) <= 20
    assert [s for stage in stages for s in stage] == list(range(n_steps))


# --- Small budgets ------------------------------------------------------------------------------------------

# Ever better sources, ever more expensive: per price, and per squared price, the expensive ones save most.
LEVELS, NOISE = {"a": 1, "b": 3, "c": 9, "d": 27}, {"a": 3.0, "b": 1.5, "c": 0.5, "d": 0.02}


def levels(seed: int, n_rows: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n_rows)
    rows = {name: truth + noise * rng.normal(size=n_rows) for name, noise in NOISE.items()}
    return pd.DataFrame(rows), truth > 0


def test_every_budget_that_a_useful_source_fits_into_has_a_model():
    model = BudgetClassifier(LEVELS, random_state=0).fit(*levels(0))
    X, y = levels(1, 2000)
    scores = [model.with_budget(budget).score(X, y) for budget in (0.9, 1, 3, 9, 27)]
    assert scores[0] == pytest.approx(0.5, abs=0.05)
    assert scores[1] > 0.53
    assert scores[2] > 0.6
    assert scores[3] > 0.7
    assert scores[4] > 0.95


@pytest.mark.parametrize("budget", [1, 2, 5])
@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_a_budget_that_is_asked_for_has_a_model(budget, time_limit):
    model = BudgetClassifier(LEVELS, budget=budget, time_limit=time_limit, random_state=0).fit(*levels(0))
    X, y = levels(1, 2000)
    assert model.acquisition_cost(X).mean() <= 1.2 * budget
    assert model.score(X, y) > 0.53


def test_sources_that_cost_more_together_are_no_cheaper_order():
    """A cheap part of something expensive must not keep what is cheap on its own out."""
    X, y = levels(0)
    costs = FeatureCosts({"a": 1, "b": 2, "c": 2, "d": 9}, groups={"b": "draw", "c": "draw"}, group_costs=4)
    model = BudgetClassifier(costs, budget=1, random_state=0).fit(X, y)
    assert [stage.sources for stage in model.stages_[1:2]] == [("a",)]
