"""Methods of Figure 1: test rows have no part in choices, and our curves are red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv, to_rgb

from budgetprune import FeatureCosts, Forest
from budgetprune_experiments import Options
from budgetprune_experiments.boosting_methods import mean_price
from budgetprune_experiments.forest_methods import PricedModel
from budgetprune_experiments.grids import QUICK
from budgetprune_experiments.methods import BEYOND, CASCADE, LINE_STYLES, METHODS, PAPER, STAGED, SUBSETS
from budgetprune_experiments.miniboone import entropy_forest, miniboone_split
from budgetprune_experiments.task import Task, evaluate_method

OPTIONS = Options(quick=True, jobs=1)


def task(split=None, costs=None):
    return Task(
        split or miniboone_split(0, OPTIONS),
        costs or FeatureCosts(),
        entropy_forest(OPTIONS).set_params(random_state=0),
        lambda model, rows: float(np.mean(model.predict(rows.X) == rows.y)),
        grids=QUICK,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    "name",
    [
        "CCP",
        "GreedyPrune",
        "BudgetRF",
        "GreedyMiser",
        "ours: refitted",
        "limited depth",
        SUBSETS,
        CASCADE,
        STAGED,
    ],
)
def test_labels_of_test_rows_change_nothing_but_the_report(name):
    split = miniboone_split(0, OPTIONS)
    random = np.random.default_rng(0)
    blind = replace(split, test=replace(split.test, y=random.permutation(split.test.y)))
    seen, not_seen = (evaluate_method(METHODS[name], task(some)) for some in (split, blind))
    for record, other in zip(seen, not_seen, strict=True):
        assert (record["setting"], record["val_cost"], record["val_score"], record["test_cost"]) == (
            other["setting"],
            other["val_cost"],
            other["val_score"],
            other["test_cost"],
        )
    assert [record["test_score"] for record in seen] != [record["test_score"] for record in not_seen]


@pytest.mark.parametrize(
    "name",
    ["unpruned forest", "CCP", "BudgetRF", "GreedyMiser", "cost-weighted L1", SUBSETS, CASCADE],
)
def test_costs_are_counted_in_the_prices_that_are_given(name):
    prices = 10.0 * np.ones(30)
    plain, dear = (
        evaluate_method(METHODS[name], task(costs=costs)) for costs in (None, FeatureCosts(prices))
    )
    # Grids are in units of an average feature, so the same models are made.
    assert [record["setting"] for record in plain] == [record["setting"] for record in dear]
    for record, other in zip(plain, dear, strict=True):
        assert other["test_cost"] == pytest.approx(10 * record["test_cost"])
        assert other["test_score"] == record["test_score"]


def test_the_average_price_of_a_feature():
    shared = FeatureCosts.from_sources({"draw": 3.0, "a": 1.0}, {0: ["draw", "a"], 1: ["draw"], 2: []})
    some = task()
    some.split = replace(some.split, train=replace(some.split.train, X=np.zeros((4, 3))))
    some.costs = shared
    assert mean_price(some) == pytest.approx(7 / 3)
    some.costs = FeatureCosts(np.zeros(3))
    assert mean_price(some) == 1.0


def test_a_priced_model_is_its_forest():
    split = miniboone_split(0, OPTIONS)
    model = entropy_forest(OPTIONS).fit(split.train.X, split.train.y)
    priced = PricedModel(Forest.from_model(model), FeatureCosts().resolve(30, None))
    np.testing.assert_array_equal(priced.predict(split.test.X), model.predict(split.test.X))
    np.testing.assert_allclose(priced.predict_proba(split.test.X), model.predict_proba(split.test.X))
    paths = model.decision_path(split.test.X)[0].toarray().astype(bool)
    feature = np.concatenate([tree.tree_.feature for tree in model.estimators_])
    expected = [np.unique(feature[path & (feature >= 0)]).size for path in paths]
    np.testing.assert_array_equal(priced.acquisition_cost(split.test.X), expected)


def test_ours_are_red_and_nobody_else_is():
    assert LINE_STYLES.keys() == METHODS.keys()
    assert set(PAPER) | set(BEYOND) == set(METHODS)
    assert len({style.colour for style in LINE_STYLES.values()}) == len(LINE_STYLES)
    for name, style in LINE_STYLES.items():
        hue, saturation, _ = rgb_to_hsv(to_rgb(style.colour))
        is_red = saturation > 0.5 and (hue < 0.08 or hue > 0.9)
        assert is_red == METHODS[name].is_ours, name
