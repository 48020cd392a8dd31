"""What is promised about labels holds as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import BudgetClassifier, BudgetRegressor, BudgetWarning, InvalidInputError
from budgetprune.staged.curve.risk import certify, certify_risk

from ..estimators.test_classifier import dominated

COSTS = [1] * 6 + [15]
SHARE, CONFIDENCE = 0.05, 0.9


@pytest.fixture(scope="module")
def fitted():
    X, y = dominated(0, 3000)
    return BudgetClassifier(COSTS, risk=(SHARE, CONFIDENCE), random_state=0).fit(X, y)


def test_a_promise_holds_at_its_confidence_over_many_data_sets(fitted):
    """300 data sets for the test; how many labels really differ is known from many more rows."""
    model = fitted.model_
    many, _ = dominated(1, 40_000)
    truth = certify_risk(model, many, SHARE, CONFIDENCE).differ
    broken = 0
    for seed in range(300):
        rows, _ = dominated(1000 + seed, 400)
        promise = certify_risk(model, rows, SHARE, CONFIDENCE)
        broken += bool(np.any(truth[promise.is_certified] > SHARE))
    # At most 10 % of 300 on average; 45 would be exceeded by chance once in 300 runs.
    assert broken <= 45


def test_the_cheapest_model_that_keeps_the_promise(fitted):
    promise = fitted.risk_
    point = fitted.model_.point
    assert promise.is_certified[point]
    assert not promise.is_certified[:point].any()
    assert promise.bound(point) <= SHARE
    assert promise.n_rows == 600
    assert fitted.tradeoff_.cost[point] < fitted.tradeoff_.cost[-1]
    X, _ = dominated(2, 5000)
    assert np.mean(fitted.predict(X) != fitted.predictor().predict(X)) < 1.5 * SHARE


def test_budgets_that_cannot_keep_it_are_told(fitted):
    with pytest.warns(BudgetWarning, match="is certified for risk"):
        cheaper = fitted.with_budget(1.0)
    assert cheaper.tradeoff_.cost[cheaper.model_.point] <= 1
    assert cheaper.risk_.bound(cheaper.model_.point) > SHARE


def test_too_few_rows_can_promise_only_the_model_that_buys_everything():
    X, y = dominated(3, 150)
    model = BudgetClassifier(COSTS, risk=(0.01, 0.99), random_state=0).fit(X, y)
    assert model.risk_.is_certified.tolist() == [False] * (len(model.tradeoff_) - 1) + [True]
    assert model.risk_.bound(len(model.tradeoff_) - 1) == 0
    everything = model.model_.paid[-1]
    assert model.acquisition_cost(X).tolist() == [everything] * len(X)
    with pytest.warns(BudgetWarning, match="no model below a cost of .* is certified"):
        model.with_budget(everything / 2)


def test_the_first_failure_ends_the_tests():
    differ = np.array([0.9, 0.0, 0.2, 0.01, 0.0])
    assert certify(differ, 1000, 0.05, 0.95).tolist() == [False, False, False, True, True]
    is_full = np.arange(5) == 2
    assert certify(differ, 1000, 0.05, 0.95, is_full).tolist() == [False, True, True, True, True]


def test_parameters():
    X, y = dominated(4, 100)
    for risk in ((1, 2), 0.1, "x", (0.1,), (0, 0.9)):
        with pytest.raises(InvalidInputError, match="risk must be a pair"):
            BudgetClassifier(risk=risk).fit(X, y)
    with pytest.raises(InvalidInputError, match="a regressor has no labels"):
        BudgetRegressor(risk=(0.1, 0.9)).fit(X, y)


def test_a_predictor_keeps_what_was_promised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    y = (X @ [2.0, 1.0, 0.5, 0.2] + 0.3 * rng.normal(size=2500) > 0).astype(int)
    model = BudgetClassifier(risk=(0.1, 0.9), random_state=0).fit(X, y)
    certified = model.risk_.is_certified
    assert certified[model.model_.point]
    assert not certified.all()
    predictor = model.predictor()
    assert np.array_equal(predictor.model.trade_off.cost, model.tradeoff_.cost[certified])
    assert np.array_equal(predictor.simulate(X).label, model.predict(X))
    with pytest.raises(InvalidInputError, match="below the cost of the cheapest model"):
        predictor.with_budget(float(model.tradeoff_.cost[certified][0]) - 0.01)
