"""Stopping rules against enumeration, and rows that pay for what they look at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.isotonic import IsotonicRegression

from budgetprune import FeatureCosts, InvalidInputError
from budgetprune.baselines import Cascade, FeatureSubsets
from budgetprune.baselines import stopping_rules as stopping
from budgetprune.baselines.stopping_rules import Stages
from budgetprune.selection import LabelledRows

from .subset_rows import SMALL, rows_with_noise

TEST_ROWS = rows_with_noise(n_rows=300, seed=1)


@pytest.fixture(scope="module")
def rows():
    return rows_with_noise()


@pytest.fixture(scope="module")
def fitted(rows):
    return Cascade(**SMALL).fit(*rows)


# --- Thresholds ---------------------------------------------------------------------------------------------


@st.composite
def stages(draw, n_stages):
    """Rows with few distinct margins, so that ties are common, and losses of 0, 1 or 3."""
    n_rows = draw(st.integers(1, 12))

    def table(values):
        cells = st.lists(st.sampled_from(values), min_size=n_rows * n_stages, max_size=n_rows * n_stages)
        return np.array(draw(cells)).reshape(n_rows, n_stages)

    price = np.cumsum(draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=n_stages, max_size=n_stages)))
    return Stages(table([0.0, 0.25, 1.0, 2.0, 5.0]), table([0.0, 1.0, 3.0]), price)


def objective(some, lam, threshold):
    stage = some.stopped(threshold[np.newaxis])[0]
    return np.mean(some.loss[np.arange(len(stage)), stage] + lam * some.price[stage])


LAMBDAS = np.array([4.0, 1.0, 0.3, 0.04, 0.0])


@settings(max_examples=200, deadline=None)
@given(stages(2))
def test_no_rule_of_two_stages_is_better(some):
    candidates = [-np.inf, *np.unique(some.margin[:, 0]), np.inf]
    for lam, threshold in zip(LAMBDAS, some.thresholds(LAMBDAS), strict=True):
        best = min(objective(some, lam, np.array([each, -np.inf])) for each in candidates)
        assert objective(some, lam, threshold) == pytest.approx(best, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(stages(4))
def test_rules_are_never_worse_than_one_stage_for_all(some):
    for lam, threshold in zip(LAMBDAS, some.thresholds(LAMBDAS), strict=True):
        fixed = some.loss.mean(axis=0) + lam * some.price
        assert objective(some, lam, threshold) <= fixed.min() + 1e-12


@settings(max_examples=200, deadline=None)
@given(stages(2), st.integers(0, 2**32 - 1))
def test_with_two_stages_every_row_costs_less_at_a_larger_lambda(some, seed):
    threshold = some.thresholds(np.sort(np.append(LAMBDAS, [0.1, 0.6, 2.0]))[::-1])
    others = Stages(np.random.default_rng(seed).uniform(0, 6, size=(20, 2)), np.zeros((20, 2)), some.price)
    assert np.all(np.diff(others.stopped(threshold), axis=0) >= 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_threshold_is_where_isotonic_regression_becomes_zero(seed):
    random = np.random.default_rng(seed)
    margin = random.exponential(size=(60, 2))
    loss = (random.uniform(size=(60, 2)) < 0.5 * np.exp(-margin * [1.0, 2.0])).astype(float)
    some = Stages(margin, loss, np.array([1.0, 2.0]))
    for lam in np.array([1.0, 0.3, 0.1]) / np.pi:  # no sum of gains is 0
        threshold = some.thresholds(np.array([lam]))[0, 0]
        gain = loss[:, 0] - loss[:, 1] - lam
        fit = IsotonicRegression(increasing=False).fit(margin[:, 0], gain).predict(margin[:, 0])
        np.testing.assert_array_equal(margin[:, 0] < threshold, fit > 1e-12)


def test_prices_of_cost_reach_from_one_stage_to_all_that_helps(rows):
    some = Stages(np.ones((4, 3)), np.array([[1.0, 1, 0]] * 4), np.array([2.0, 2.5, 10.0]))
    lam = some.lambdas()
    assert np.all(np.diff(lam) < 0)
    assert lam[-1] == 0
    stage = some.stopped(some.thresholds(lam))
    assert (stage[0].tolist(), stage[-1].tolist()) == ([0] * 4, [2] * 4)
    one = Stages(np.ones((4, 1)), np.ones((4, 1)), np.ones(1))
    assert one.lambdas().tolist() == [0]


def test_a_wrong_answer_loses_the_weight_of_its_row():
    shares = [np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]]), np.array([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8]])]
    rows = LabelledRows(np.zeros((3, 1)), np.array([0, 0, 0]), np.array([1.0, 2.0, 3.0]))
    some = Stages.of(shares, rows, np.array([1.0, 2.0]))
    np.testing.assert_allclose(some.loss, [[0, 0.5], [0, 0], [1.5, 1.5]])
    np.testing.assert_allclose(some.margin, np.log([[4, 7 / 3], [1, 1.5], [9, 4]]), atol=1e-6)


def test_many_rows_are_done_in_pieces(monkeypatch):
    random = np.random.default_rng(0)
    some = Stages(random.uniform(size=(50, 3)), random.integers(2, size=(50, 3)) * 1.0, np.arange(1.0, 4))
    at_once = some.thresholds(some.lambdas())
    monkeypatch.setattr(stopping, "VALUES_AT_A_TIME", 120)
    np.testing.assert_array_equal(some.thresholds(some.lambdas()), at_once)


def test_cross_fitted_rows_stop_by_the_rules_of_others():
    random = np.random.default_rng(0)
    some = Stages(random.uniform(size=(40, 2)), random.integers(2, size=(40, 2)) * 1.0, np.arange(1.0, 3))
    one, other = np.arange(0, 40, 2), np.arange(1, 40, 2)
    stage = some.cross_fitted(LAMBDAS, [(one, other), (other, one)])
    for makes, judged in ((one, other), (other, one)):
        expected = some.take(judged).stopped(some.take(makes).thresholds(LAMBDAS))
        np.testing.assert_array_equal(stage[:, judged], expected)


# --- The estimator ------------------------------------------------------------------------------------------


def test_subsets_are_those_of_feature_subsets(rows, fitted):
    subsets = FeatureSubsets(**SMALL).fit(*rows)
    assert fitted.order_ == subsets.order_
    assert [each.price for each in fitted.subsets_] == [each.price for each in subsets.subsets_]
    assert [each.accuracy for each in fitted.subsets_] == [each.accuracy for each in subsets.subsets_]
    # Where cost counts for much, all rows stop at the first stage.
    first, cheapest = fitted.with_lam(fitted.rules_.lam[0]), subsets.with_budget(fitted.subsets_[0].price)
    np.testing.assert_array_equal(first.predict_proba(rows[0]), cheapest.predict_proba(rows[0]))
    np.testing.assert_array_equal(first.acquisition_cost(rows[0]), cheapest.acquisition_cost(rows[0]))


def test_one_subset_is_plain_lightgbm(rows):
    X, y = rows[0][:, :1], rows[1]
    ours = Cascade(costs=3.0, **SMALL).fit(X, y)
    plain = LGBMClassifier(verbose=-1, **SMALL).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    np.testing.assert_array_equal(ours.acquisition_cost(X), np.full(len(X), 3.0))


def test_rows_pay_for_their_stage_and_see_no_more(fitted):
    X, _ = TEST_ROWS
    some = fitted.with_lam(0.01)
    cost, share = some.acquisition_cost(X), some.predict_proba(X)
    prices = [subset.price for subset in some.subsets_]
    assert set(cost) <= set(prices)
    assert len(set(cost)) > 1
    blind = np.full_like(X, np.nan)
    for row, paid in enumerate(cost):
        columns = some.subsets_[prices.index(paid)].columns
        blind[row, columns] = X[row, columns]
    np.testing.assert_array_equal(some.predict_proba(blind), share)
    np.testing.assert_array_equal(some.acquisition_cost(blind), cost)
    np.testing.assert_array_equal(some.sources_used(X).sum(axis=1), cost)  # all prices are 1


def test_rows_are_judged_one_by_one(fitted):
    X, _ = TEST_ROWS
    some = fitted.with_lam(0.01)
    alone = np.concatenate([some.predict_proba(X[k : k + 1]) for k in range(20)])
    np.testing.assert_allclose(alone, some.predict_proba(X)[:20])


def test_costs_fall_with_lambda(fitted):
    models = [fitted.with_lam(lam) for lam in (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)]
    assert np.all(np.diff([model.cost_ for model in models]) <= 1e-9)
    assert models[0].cost_ > models[-1].cost_ == fitted.subsets_[0].price
    # The same average on other rows, as far as these tell.
    cost = [model.acquisition_cost(TEST_ROWS[0]).mean() for model in models]
    assert cost[0] > cost[-1]
    for model in models:
        objective = model.lam * fitted.rules_.cost - fitted.rules_.accuracy
        assert model.lam * model.cost_ - model.accuracy_ == objective.min()


def test_the_most_accurate_rules_within_the_budget(fitted):
    rules = fitted.rules_
    for budget in (1.0, 1.2, 1.5, 2.0, 8.0, None):
        chosen = fitted.with_budget(budget)
        is_affordable = rules.cost <= (np.inf if budget is None else budget)
        assert chosen.cost_ <= (np.inf if budget is None else budget)
        assert chosen.accuracy_ == rules.accuracy[is_affordable].max()
    assert fitted.with_lam(0.1).with_budget(2.0).lam is None
    assert fitted.with_budget(2.0).with_lam(0.1).budget is None


def test_parameters_of_fit_are_the_same_choices(rows, fitted):
    X, _ = rows
    by_budget = Cascade(budget=1.3, **SMALL).fit(*rows)
    np.testing.assert_array_equal(by_budget.predict_proba(X), fitted.with_budget(1.3).predict_proba(X))
    by_lam = Cascade(lam=0.0123, **SMALL).fit(*rows)
    assert 0.0123 in by_lam.rules_.lam
    assert by_lam.cost_ == by_lam.with_budget(1.0).with_lam(0.0123).cost_


def test_stopping_early_saves_most_of_the_cost(rows, fitted):
    # Column 0 alone tells most labels: few rows need column 1, and none needs more.
    some = fitted.with_lam(0.01)
    whole = FeatureSubsets(budget=2.0, **SMALL).fit(*rows)
    assert some.acquisition_cost(TEST_ROWS[0]).mean() < 1.9
    assert some.score(*TEST_ROWS) > whole.score(*TEST_ROWS) - 0.05


def test_shared_sources_cost_once(rows):
    costs = FeatureCosts(1.0, groups=dict.fromkeys((0, 1, 2), "draw"), group_costs={"draw": 10.0})
    some = Cascade(costs=costs, lam=0.0, **SMALL).fit(*rows)
    price = np.array([1.0] * 8 + [10.0])
    used = some.sources_used(TEST_ROWS[0])
    np.testing.assert_allclose(some.acquisition_cost(TEST_ROWS[0]), used @ price)
    np.testing.assert_array_equal(used[:, 8], used[:, :3].any(axis=1))
    assert some.subsets_[-1].price == 18


def test_several_classes_with_names_in_a_table():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = dict(zip(X.columns, [1, 1, 5, 5], strict=True))
    some = Cascade(costs=costs, lam=0.001, **SMALL).fit(X, names)
    assert some.score(X, names) > 0.9
    np.testing.assert_allclose(some.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(some.predict(X), some.classes_[some.predict_proba(X).argmax(axis=1)])


def test_errors_are_weighted_like_the_classes(rows):
    X, rare = rows[0], (np.random.default_rng(0).uniform(size=500) < 0.06).astype(np.int64)
    plain = Cascade(**SMALL).fit(X, rare)
    balanced = Cascade(lightgbm_params={"class_weight": "balanced"}, **SMALL).fit(X, rare)
    # Nothing tells this label. Saying no is right nearly always, but half of the time if classes count alike.
    assert plain.rules_.accuracy[0] > 0.85
    assert balanced.rules_.accuracy[0] < 0.8


# --- Errors -------------------------------------------------------------------------------------------------


def test_a_budget_that_buys_nothing_names_the_cheapest_subset(rows, fitted):
    message = "budget=0.5 is too small: the cheapest subset of sources is 'x0', whose price is 1"
    with pytest.raises(InvalidInputError, match=message):
        Cascade(budget=0.5, **SMALL).fit(*rows)
    with pytest.raises(InvalidInputError, match=message):
        fitted.with_budget(0.5)


def test_wrong_prices_of_cost_are_refused(rows, fitted):
    with pytest.raises(InvalidInputError, match="give a budget or a lam, not both"):
        Cascade(budget=1.0, lam=1.0).fit(*rows)
    for wrong in (-1.0, np.nan, "much"):
        with pytest.raises(InvalidInputError, match="lam must be a finite number"):
            Cascade(lam=wrong).fit(*rows)
        with pytest.raises(InvalidInputError, match="lam must be a finite number"):
            fitted.with_lam(wrong)
