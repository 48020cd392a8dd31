"""What a curve says is what new rows get, and one fit serves every budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from budgetprune import BudgetClassifier, FeatureCosts
from budgetprune.errors import BudgetWarning

from ...training import full_training as training_in_full

# One source that knows nearly everything, and six that know little.
COSTS = [15, 1, 1, 1, 1, 1, 1]


def dominated(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    y = (z + 0.15 * random.normal(size=n_rows) > 0).astype(int)
    return np.column_stack([z, z[:, np.newaxis] + 2 * random.normal(size=(n_rows, 6))]), y


def test_costs_of_a_curve_are_those_of_new_rows_if_features_have_two_values():
    random = np.random.default_rng(0)

    def rows(n_rows):
        X = random.integers(0, 2, (n_rows, 5)).astype(float)
        return X, (X @ [2, 1.5, 1, 1, 0.5] + random.normal(size=n_rows) > 3).astype(int)

    model = BudgetClassifier(random_state=0).fit(*rows(600))
    X, _ = rows(4000)
    for cost in model.tradeoff_.cost:
        assert model.with_budget(cost).acquisition_cost(X).mean() == pytest.approx(cost, abs=0.35)


@pytest.fixture(scope="module")
def without_budget() -> BudgetClassifier:
    with training_in_full():
        return BudgetClassifier(COSTS, random_state=0).fit(*dominated(0, 600))


def test_a_fit_without_a_budget_has_the_source_that_is_best_alone(without_budget):
    X, y = dominated(1, 3000)
    alone = without_budget.with_budget(15)
    assert alone.acquisition_cost(X).mean() == pytest.approx(15, abs=0.5)
    assert alone.score(X, y) > 0.93


@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize("limit", [15, 16])
def test_the_limit_of_a_row_is_used_for_the_best_source_that_fits(limit):
    X, y = dominated(1, 3000)
    model = BudgetClassifier(COSTS, max_cost=limit, random_state=0).fit(*dominated(0, 600))
    assert model.acquisition_cost(X).max() <= limit
    assert model.score(X, y) > 0.93


# --- Rare classes -------------------------------------------------------------------------------------------


def rare(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    odds = np.exp(X @ [1.0, 0.6, 0.0, 0.0] - 4)
    return X, (random.random(n_rows) < odds / (1 + odds)).astype(int)


def test_labels_that_cannot_be_more_accurate_are_judged_by_probabilities():
    X, y = rare(0, 3000)
    with pytest.warns(BudgetWarning, match="log loss of the probabilities"):
        model = BudgetClassifier(budget=2, random_state=0).fit(X, y)
    X_new, y_new = rare(1, 5000)
    assert roc_auc_score(y_new, model.predict_proba(X_new)[:, 1]) > 0.65
    assert 0.5 < model.acquisition_cost(X_new).mean() < 2.2
    assert np.all(np.diff(model.tradeoff_.loss) < 0)
    other = model.predictor()
    assert other.simulate(X_new[:50]).cost.tolist() == model.acquisition_cost(X_new[:50]).tolist()


@pytest.mark.usefixtures("full_training")
def test_sources_that_say_nothing_are_not_bought():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 3)), (random.random(2000) < 0.03).astype(int)
    model = BudgetClassifier(random_state=0, learner="lightgbm").fit(X, y)
    assert model.acquisition_cost(X).max() == 0


# --- Small budgets ------------------------------------------------------------------------------------------


# Ever better sources, ever more expensive: per price, and per squared price, the expensive ones save most.
LEVELS, NOISE = {"a": 1, "b": 3, "c": 9, "d": 27}, {"a": 3.0, "b": 1.5, "c": 0.5, "d": 0.02}


def levels(seed: int, n_rows: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n_rows)
    rows = {name: truth + noise * rng.normal(size=n_rows) for name, noise in NOISE.items()}
    return pd.DataFrame(rows), truth > 0


@pytest.mark.usefixtures("full_training")
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


@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_a_fit_for_a_large_budget_serves_small_ones(time_limit):
    """The best source is expensive, the next best one costs 4.5, and cheap ones are nearly worthless."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5500, 8))
    labels = 1.5 * rows[:, 0] + 0.7 * rows[:, 1] + 0.6 * rng.normal(size=5500) > 0
    rows[:, 2:] += 0.25 * rows[:, 1:2]
    costs = [20.0, 4.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    train, test = slice(0, 1500), slice(1500, None)
    settings = {"learner": "lightgbm", "cv": 3, "random_state": 0, "time_limit": time_limit}
    small, large = (
        BudgetClassifier(costs, budget=budget, **settings).fit(rows[train], labels[train])
        for budget in (5, 30)
    )
    cheaper = large.with_budget(5.0)
    assert cheaper.acquisition_cost(rows[test]).mean() > 0
    constant = max(labels[test].mean(), 1 - labels[test].mean())
    assert cheaper.score(rows[test], labels[test]) > constant + 0.02
    if time_limit is None:
        assert (1,) in [chain.stages[1].sources for chain in large.model_.chains]
        assert cheaper.score(rows[test], labels[test]) > small.score(rows[test], labels[test]) - 0.02
