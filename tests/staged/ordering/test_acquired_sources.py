"""Sources that are paid for, and steps that can be bought next."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import FeatureCosts
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step

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
