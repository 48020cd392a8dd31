"""Elimination of sources, nested subsets, and the model of the best subset within a budget."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.utils.class_weight import compute_sample_weight

from budgetprune import FeatureCosts, InvalidInputError
from budgetprune.baselines import FeatureSubsets
from budgetprune.baselines.elimination import Needs, _sizes, eliminate
from budgetprune.baselines.nested import best_within
from budgetprune.baselines.subset_models import BoostingParameters
from budgetprune.selection import LabelledRows

from .subset_rows import SMALL, rows_with_noise


@pytest.fixture(scope="module")
def rows():
    return rows_with_noise()


@pytest.fixture(scope="module")
def fitted(rows):
    return FeatureSubsets(**SMALL).fit(*rows)


# --- The order of the sources -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_noise", [6, 30])  # by trials alone, and by gains first
def test_informative_sources_come_before_noise(n_noise):
    fitted = FeatureSubsets(**SMALL).fit(*rows_with_noise(n_noise=n_noise))
    assert fitted.order_[:2] == ("x0", "x1")
    assert sorted(fitted.order_) == sorted(f"x{k}" for k in range(2 + n_noise))


def test_of_two_copies_the_cheaper_one_stays(rows):
    X = np.column_stack([rows[0][:, :1], rows[0][:, :1], rows[0][:, 2:6]])
    costs = np.ones(X.shape[1])
    costs[0] = 20.0
    fitted = FeatureSubsets(costs=costs, **SMALL).fit(X, rows[1])
    assert fitted.order_[0] == "x1"
    assert fitted.subsets_[0].price == 1


def test_more_value_for_less_comes_first(rows):
    # Column 0 tells more than column 1, but not a thousand times more.
    fitted = FeatureSubsets(costs=[1000.0, 1.0, *[1000.0] * 6], **SMALL).fit(*rows)
    assert fitted.order_[0] == "x1"


def test_gains_are_divided_by_prices_too():
    X = np.random.default_rng(0).normal(size=(1500, 13))
    y = X @ [1.5, *[1.0] * 12] > 0
    # So many rounds that each column is used. The first has the largest gain, and goes first all the same.
    settings = SMALL | {"n_estimators": 80}
    assert FeatureSubsets(costs=[1e6, *[1.0] * 12], **settings).fit(X, y).order_[-1] == "x0"


def test_sizes_of_subsets():
    assert _sizes(0) == []
    assert _sizes(1) == [1]
    assert _sizes(10) == list(range(1, 11))
    assert _sizes(13) == [*range(1, 11), 12, 13]
    assert _sizes(200)[-7:] == [64, 80, 100, 125, 157, 197, 200]
    for most in range(1, 300):
        assert _sizes(most)[-1] == most
        assert np.all(np.diff(_sizes(most)) > 0)


@st.composite
def needs_of_features(draw):
    """Prices, of which some are 0, and the sources of each feature, of which some need none."""
    n_sources = draw(st.integers(1, 14))
    prices = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0]), min_size=n_sources, max_size=n_sources))
    some = st.lists(st.integers(0, n_sources - 1), max_size=3, unique=True)
    features = draw(st.lists(some, min_size=1, max_size=14))
    return dict(enumerate(prices)), dict(enumerate(features))


@settings(max_examples=40, deadline=None)
@given(needs_of_features())
def test_subsets_are_nested_and_give_all_columns_that_they_pay_for(given_needs):
    prices, needed = given_needs
    random = np.random.default_rng(0)
    X = random.normal(size=(60, len(needed)))
    label = (X.sum(axis=1) > 0).astype(np.int32)
    label[:2] = 0, 1
    rows, others = LabelledRows(X[:40], label[:40]), LabelledRows(X[40:], label[40:])
    costs = FeatureCosts.from_sources(prices, needed).resolve(len(needed))
    quick = BoostingParameters(3, 2, 0.1, 0, 1, {"min_child_samples": 2})
    subsets = eliminate(costs, rows, others, quick)
    needs = Needs(costs)
    # No source without a use, and none without a price.
    useful = {source for sources in needed.values() for source in sources}
    assert sorted(subsets.order) == sorted(str(s) for s in useful if prices[s] > 0)
    np.testing.assert_array_equal(subsets.columns[-1], np.arange(len(needed)))
    for columns in subsets.columns:
        bought = set(np.flatnonzero(needs.acquired(columns)))
        free = {source for source, price in prices.items() if price == 0}
        given_by = [k for k, sources in needed.items() if set(sources) <= bought | free]
        assert columns.tolist() == given_by
    for before, after in zip(subsets.columns, subsets.columns[1:], strict=False):
        assert set(before) < set(after)
    is_free = [not any(prices[s] for s in sources) for sources in needed.values()]
    assert subsets.columns[0].tolist() == np.flatnonzero(is_free).tolist() or not any(is_free)


@settings(max_examples=100, deadline=None)
@given(needs_of_features(), st.data())
def test_prices_saved_by_a_removal(given_needs, data):
    prices, needed = given_needs
    costs = FeatureCosts.from_sources(prices, needed).resolve(len(needed))
    needs = Needs(costs)
    columns = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(needed))), min_size=1))))
    saved = needs.saved(columns)
    for source in needs.paid(columns):
        left = needs.without(columns, source)
        assert left.tolist() == [k for k in columns if source not in needed[k]]
        total = [costs.price[needs.acquired(some)].sum() for some in (columns, left)]
        assert saved[source] == pytest.approx(total[0] - total[1])


# --- Shared sources -----------------------------------------------------------------------------------------


def test_shared_sources_cost_once(rows):
    costs = FeatureCosts(1.0, groups=dict.fromkeys((0, 1, 2), "draw"), group_costs={"draw": 10.0})
    fitted = FeatureSubsets(costs=costs, **SMALL).fit(*rows)
    price = dict.fromkeys(fitted.order_, 1.0) | {"draw": 10.0}
    for subset in fitted.subsets_:
        assert subset.price == sum(price[source] for source in subset.sources)
        # A draw alone is of no use, and nor are its tests without it.
        assert ("draw" in subset.sources) == any(k in subset.columns for k in (0, 1, 2))
    whole = fitted.subsets_[-1]
    assert whole.price == 8 + 10
    both = next(subset for subset in fitted.subsets_ if {"x0", "x1"} <= set(subset.sources))
    assert both.price == 12
    one = fitted.with_budget(12.0)
    assert one.cost_ == 12
    np.testing.assert_array_equal(one.acquisition_cost(rows[0][:5]), np.full(5, 12.0))
    np.testing.assert_array_equal(
        one.sources_used(rows[0][:3]), np.tile([k in (0, 1, 8) for k in range(9)], (3, 1))
    )


def test_free_features_are_a_subset_of_their_own(rows):
    fitted = FeatureSubsets(costs=[1.0, 0.0, *[1.0] * 6], **SMALL).fit(*rows)
    assert (fitted.subsets_[0].price, fitted.subsets_[0].columns.tolist()) == (0, [1])
    assert "x1" not in fitted.order_
    free = fitted.with_budget(0.0)
    assert free.cost_ == 0
    assert free.score(*rows) > 0.6


def test_all_features_may_be_free(rows):
    fitted = FeatureSubsets(costs=0.0, **SMALL).fit(*rows)
    assert fitted.order_ == ()
    assert [subset.price for subset in fitted.subsets_] == [0]


# --- The chosen subset --------------------------------------------------------------------------------------


def test_the_best_within_the_budget_is_plain_lightgbm_on_its_columns(rows, fitted):
    X, y = rows
    for budget in (1.0, 2.5, 8.0, None, np.inf):
        chosen = fitted.with_budget(budget)
        affordable = [s for s in fitted.subsets_ if s.price <= (np.inf if budget is None else budget)]
        best = max(subset.accuracy for subset in affordable)
        assert chosen.subset_.accuracy == best
        assert chosen.cost_ == min(s.price for s in affordable if s.accuracy == best)
        plain = LGBMClassifier(verbose=-1, **SMALL).fit(X[:, chosen.subset_.columns], y)
        np.testing.assert_allclose(chosen.predict_proba(X), plain.predict_proba(X[:, chosen.subset_.columns]))
        assert chosen.budget == budget
    assert fitted.budget is None


def test_of_equals_the_cheapest_is_chosen():
    cost, accuracy = np.array([3.0, 1.0, 2.0, 5.0]), np.array([0.8, 0.7, 0.8, 0.9])
    assert [best_within(cost, accuracy, budget) for budget in (1.0, 2.5, 4.0, 5.0, None)] == [1, 2, 2, 3, 3]
    assert best_within(np.array([0.1 + 0.2]), np.array([0.5]), 0.3) == 0


def test_a_budget_of_fit_is_the_same_choice(rows, fitted):
    again = FeatureSubsets(budget=1.0, **SMALL).fit(*rows)
    np.testing.assert_array_equal(
        again.predict_proba(rows[0]), fitted.with_budget(1.0).predict_proba(rows[0])
    )


def test_predictions_ignore_columns_that_are_not_bought(rows, fitted):
    one = fitted.with_budget(1.0)
    blind = rows[0].copy()
    blind[:, np.setdiff1d(np.arange(8), one.subset_.columns)] = np.nan
    np.testing.assert_array_equal(one.predict_proba(blind), one.predict_proba(rows[0]))


def test_lightgbm_gets_its_parameters(rows):
    X, y = rows
    weights = {0: 1.0, 1: 3.0}
    params = {"extra_trees": True, "min_child_samples": 7, "class_weight": weights}
    ours = FeatureSubsets(lightgbm_params=params, **SMALL).fit(X, y)
    columns = ours.subset_.columns
    weight = compute_sample_weight(weights, y)
    plain = LGBMClassifier(verbose=-1, extra_trees=True, min_child_samples=7, **SMALL)
    plain.fit(X[:, columns], y, sample_weight=weight / weight.mean())
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X[:, columns]))


def test_accuracy_is_weighted_like_the_classes(rows):
    X, rare = rows[0], (np.random.default_rng(0).uniform(size=500) < 0.06).astype(np.int64)
    plain = FeatureSubsets(**SMALL).fit(X, rare)
    balanced = FeatureSubsets(lightgbm_params={"class_weight": "balanced"}, **SMALL).fit(X, rare)
    # Nothing tells this label. Saying no is right nearly always, but half of the time if classes count alike.
    assert plain.subset_.accuracy > 0.85
    assert balanced.subsets_[0].accuracy < 0.8


def test_several_classes_with_names_in_a_table():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = dict(zip(X.columns, [1, 1, 5, 5], strict=True))
    fitted = FeatureSubsets(costs=costs, budget=6.0, **SMALL).fit(X, names)
    assert set(fitted.order_) == set(X.columns)
    assert fitted.score(X, names) > 0.9
    assert fitted.cost_ <= 6
    assert fitted.predict_proba(X).shape == (150, 3)


def test_missing_values_and_categories_are_lightgbms_own(rows):
    X, y = rows
    table = pd.DataFrame(X[:, 2:5], columns=["a b", "c", "d"])
    table.loc[::7, "c"] = np.nan
    table["kind"] = pd.Categorical(np.where(y == 1, "x", "z"))
    fitted = FeatureSubsets(**SMALL).fit(table, y)
    assert fitted.order_[0] == "kind"
    assert fitted.score(table, y) == 1


def test_it_can_be_pickled(rows, fitted):
    again = pickle.loads(pickle.dumps(fitted.with_budget(2.0)))
    assert again.with_budget(1.0).cost_ == 1
    np.testing.assert_allclose(again.predict_proba(rows[0]), fitted.with_budget(2.0).predict_proba(rows[0]))


# --- Errors -------------------------------------------------------------------------------------------------


def test_a_budget_that_buys_nothing_names_the_cheapest_subset(rows):
    costs = FeatureCosts(2.0, groups=dict.fromkeys(range(8), "visit"), group_costs={"visit": 5.0})
    message = r"budget=6 is too small: the cheapest subset of sources is 'x0', 'visit', whose price is 7"
    with pytest.raises(InvalidInputError, match=message):
        FeatureSubsets(costs=costs, budget=6.0, **SMALL).fit(*rows)
    fitted = FeatureSubsets(costs=costs, budget=7.0, **SMALL).fit(*rows)
    with pytest.raises(InvalidInputError, match=message):
        fitted.with_budget(6.0)
    assert fitted.budget == 7.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": -1.0}, "budget must be"),
        ({"costs": [1.0]}, "costs has 1 entries"),
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1"),
        ({"num_leaves": 1}, "num_leaves must be a whole number of at least 2"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number between 0 and 1"),
        ({"lightgbm_params": "extra_trees"}, "lightgbm_params must be a dict"),
        ({"lightgbm_params": {"num_leaves": 3}}, "contains 'num_leaves', which is a separate parameter"),
    ],
)
def test_wrong_settings_are_refused(rows, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        FeatureSubsets(**wrong).fit(*rows)


def test_wrong_rows_are_refused(rows, fitted):
    X, y = rows[0][:40].copy(), rows[1][:40]
    with pytest.raises(InvalidInputError, match="one class only"):
        FeatureSubsets().fit(X, np.zeros(40))
    with pytest.raises(InvalidInputError, match="n_samples=2: too few rows"):
        FeatureSubsets().fit(X[:2], [0, 1])
    X[3, 1] = np.inf
    for method in (lambda: FeatureSubsets().fit(X, y), lambda: fitted.predict(X)):
        with pytest.raises(ValueError, match="infinity"):
            method()


def test_without_lightgbm_the_extra_is_named(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"FeatureSubsets needs LightGBM: .*budgetprune\[lightgbm\]"):
        FeatureSubsets().fit(*rows)
