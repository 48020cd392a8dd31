"""Which points a curve keeps, and how gaps between them are filled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from budgetprune import BudgetClassifier, BudgetRegressor, InvalidInputError
from budgetprune.errors import BudgetWarning
from budgetprune.staged.curve.best_points import best_points
from budgetprune.staged.estimators import base as _base
from budgetprune.staged.stopping.interpolation import interpolate_rules
from budgetprune.staged.stopping.lambdas import choose_lambdas
from budgetprune.staged.stopping.thresholds import learn_thresholds, stopping_stage

from ...golden.staged_models import curve
from ..stopping.test_thresholds import noisy

FOUND = replace(
    curve([0.0, 1.0, 2.0, 3.0], [0, 0, 0, 0], [[np.inf] * 3] * 4),
    score=np.array([0.9, 0.8, 0.95, 0.85]),
    loss=np.array([5.0, 3.0, 4.0, 1.0]),
)


def test_points_are_kept_by_score_or_by_loss():
    every = np.ones(4, dtype=bool)
    assert best_points(FOUND, every).cost.tolist() == [0, 2]
    assert best_points(FOUND, every, by_loss=True).cost.tolist() == [0, 1, 3]
    assert best_points(FOUND, every, keeps_full_point=True).cost.tolist() == [0, 2, 3]


def test_no_budget_leads_to_a_point_that_costs_more_in_all_than_a_cheaper_one():
    """Points behind the best one stay, and show what more money would buy."""
    every = np.ones(4, dtype=bool)
    cases = [([5, 4.5, 2, 0.5], [0, 2, 3]), ([5, 3, 2.5, 2], [0, 1, 2, 3]), ([5, 4.5, 4, 1], [0, 3])]
    for loss, kept in cases:
        found = replace(FOUND, loss=np.array(loss, dtype=float))
        curve = best_points(found, every, by_loss=True, in_unit_of_costs=True)
        assert curve.cost.tolist() == kept


def test_what_a_point_that_is_no_candidate_would_beat_is_kept():
    is_candidate = np.array([False, True, False, True])
    assert best_points(FOUND, is_candidate).cost.tolist() == [1, 3]


@pytest.mark.parametrize("seed", range(3))
def test_gaps_are_filled(seed):
    evidence = noisy(seed)
    lams = choose_lambdas(evidence)[[0, -1]]
    rules = learn_thresholds(evidence, lams)

    def cost(thresholds):
        stage = stopping_stage(evidence.uncertainty, thresholds)
        return np.average(np.cumsum(evidence.price)[stage], weights=evidence.weight)

    ends = np.array([cost(rule) for rule in rules])
    between, own_lams = interpolate_rules(evidence, rules, lams, ends)
    costs = np.array([cost(rule) for rule in between])
    assert len(between) == len(own_lams) == 8
    assert np.all(np.diff(costs) > 0)
    assert ends.min() < costs.min()
    assert costs.max() < ends.max()
    assert interpolate_rules(evidence, rules[:1], lams[:1], ends[:1])[0].shape == (0, 5)


# --- Prices of errors ---------------------------------------------------------------------------------------


def rare(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X @ [1.0, 0.8, 0.5, 0.3] + rng.normal(size=n_rows) > 2.4).astype(int)


def test_rare_classes_that_are_expensive_to_miss():
    """Answers that cost less are wrong more often; the curve must not leave them out."""
    X, y = rare(0, 1500)
    X_new, y_new = rare(1, 5000)
    prices = np.array([[0, 5], [60, 0]])
    model = BudgetClassifier([0.1] * 4, error_costs=prices, random_state=0).fit(X, y)
    total = model.acquisition_cost(X_new).mean() + prices[y_new, model.predict(X_new)].mean()
    constant = min(prices[y_new, answer].mean() for answer in (0, 1))
    assert total < 0.75 * constant
    curve = model.tradeoff_
    assert np.all(np.diff(curve.loss) < 0)
    assert np.all(np.diff((curve.cost + curve.loss)[: curve.cheapest_in_all() + 1]) < 0)


def test_each_class_has_a_price():
    X, y = rare(0, 200)
    with pytest.raises(InvalidInputError, match="no price for class 0; give one for each of"):
        BudgetClassifier(error_costs={1: 60}).fit(X, y)
    with pytest.raises(InvalidInputError, match="has 'a' for 0; prices are numbers"):
        BudgetClassifier(error_costs={0: "a", 1: 2}).fit(X, y)


# --- Inputs -------------------------------------------------------------------------------------------------


def test_ordinary_scores_of_rows_with_queries():
    X, y = rare(0, 300)
    qid = np.repeat(np.arange(30), 10)
    for model, target in ((BudgetClassifier(scoring="roc_auc"), y), (BudgetRegressor(scoring="r2"), X[:, 0])):
        fitted = model.set_params(time_limit=0.0, random_state=0).fit(X, target, qid=qid)
        assert np.isfinite(fitted.tradeoff_.score).all()


def test_text_is_refused_with_advice():
    table = {"age": [1.0, 2.0] * 5, "town": ["Aix", "Bonn"] * 5}
    with pytest.raises(InvalidInputError, match=r"column 'town' of X holds text.*astype\('category'\)"):
        BudgetClassifier().fit(pd.DataFrame(table), [0, 1] * 5)
    with pytest.raises(InvalidInputError, match=r"column 'town' of X holds text.*pl.Categorical"):
        BudgetClassifier().fit(pl.DataFrame(table), [0, 1] * 5)


def test_an_interrupted_fit_leaves_no_model(monkeypatch):
    X, y = rare(0, 300)
    model = BudgetClassifier(time_limit=0.0, random_state=0).fit(X, y)

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_base, "fit_staged_model", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_model_that_can_buy_nothing_is_told():
    X, y = rare(0, 300)
    with pytest.warns(BudgetWarning, match="the cheapest feature costs 2, more than"):
        BudgetClassifier([2, 3, 4, 5], budget=1, time_limit=0.0, random_state=0).fit(X, y)


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
