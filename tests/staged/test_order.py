"""What can be bought next, and how sources become stages."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import FeatureCosts
from budgetprune.staged._order import Shop, Step, join_steps

SHARED = FeatureCosts(
    [0, 1, 2, 3, 4], groups=[None, None, "draw", "draw", None], group_costs={"draw": 10}
).resolve(5)


def test_shared_sources_are_paid_once():
    shop = Shop(SHARED)
    assert shop.columns().tolist() == [0]
    prices = {step.sources: step.price for step in shop.steps()}
    assert prices == {(1,): 1, (2, 5): 12, (3, 5): 13, (4,): 4}
    shop.buy(Step((2, 5), 12.0))
    assert shop.columns().tolist() == [0, 2]
    assert {step.sources: step.price for step in shop.steps()} == {(1,): 1, (3,): 3, (4,): 4}


@pytest.mark.parametrize("bought", [(), (2, 5)])
def test_gains_are_those_of_the_features_that_become_available(bought):
    shop = Shop(SHARED)
    shop.has[list(bought)] = True
    gains = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    steps = shop.steps()
    by_definition = [gains[np.setdiff1d(shop.columns(step.sources), shop.columns())].sum() for step in steps]
    assert shop.gains(steps, gains).tolist() == by_definition


def test_only_what_is_offered_can_be_bought():
    shop = Shop(SHARED, SHARED.price < 5)
    assert {step.sources for step in shop.steps()} == {(1,), (4,)}
    assert shop.offered_columns().tolist() == [0, 1, 4]


@pytest.mark.parametrize("n_steps", [0, 1, 9, 40, 300])
def test_stages_buy_all_steps_once(n_steps):
    order = [Step((s,), 1.0) for s in range(n_steps)]
    stages = join_steps(order, 20)
    assert len(stages) <= 20
    assert [s for stage in stages for s in stage] == list(range(n_steps))
