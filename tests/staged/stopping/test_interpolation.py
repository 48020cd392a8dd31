"""Gaps between points of a curve are filled with interpolated rules."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.staged.stopping.interpolation import interpolate_rules
from budgetprune.staged.stopping.lambdas import choose_lambdas
from budgetprune.staged.stopping.thresholds import learn_thresholds, stopping_stage

from .test_thresholds import noisy


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
