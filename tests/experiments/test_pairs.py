"""Pairs trees are pruned as entropy trees are, on the same rows, by the same clock."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.baselines import BudgetRF
from budgetprune_experiments import Options
from budgetprune_experiments.contest import Deadline
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED
from budgetprune_experiments.pairs import NAMES, SIDES, _with_pairs


@pytest.fixture(scope="module")
def side():
    return SIDES[0]


@pytest.fixture(scope="module")
def contest(side, tmp_path_factory):
    return side._contest(0, Options(quick=True, out=tmp_path_factory.mktemp("out"), jobs=1))


def points(side, contest, name):
    contest.deadline = Deadline(np.inf)
    return list(side.methods[name].curve(contest))


def test_both_forests_have_the_same_rows_prices_and_trees(side, contest):
    other = _with_pairs(contest)
    assert isinstance(other.base, BudgetRF)
    assert other.base.get_params()["n_estimators"] == contest.base.n_estimators
    assert other.base.threshold == 0
    assert (other.base.impurity, other.base.rule) == ("pairs", "minimax")
    assert other.split is contest.split
    assert other.costs is contest.costs
    assert set(side.methods) == {*NAMES, *(f"{name}, Pairs" for name in NAMES)}


def test_methods_prune_the_forest_that_they_name(side, contest):
    whole = {name: points(side, contest, name)[0] for name in (UNPRUNED, f"{UNPRUNED}, Pairs")}
    entropy, pairs = (point.model().forest_ for point in whole.values())
    assert entropy.origin is not pairs.origin
    assert isinstance(pairs.origin, BudgetRF)
    assert not isinstance(entropy.origin, BudgetRF)
    for name in ("CCP", OURS_PAPER):
        for suffix, forest in (("", entropy), (", Pairs", pairs)):
            found = points(side, contest, name + suffix)
            assert all(point.model().forest_.origin is forest.origin for point in found)
            assert max(point.model().forest_.n_splits for point in found) <= forest.n_splits
            assert max(point.cost for point in found) <= whole[UNPRUNED + suffix].cost + 1e-9


def test_growing_the_other_forest_is_charged_to_each_method(side, contest):
    other = contest.shared("contest on Pairs", lambda: _with_pairs(contest))
    list(side.methods[f"{UNPRUNED}, Pairs"].curve(contest))
    other._made["forest"] = other._made["forest"][0], 1000.0  # as if it had taken that long
    contest.deadline = Deadline(np.inf)
    list(side.methods[f"{UNPRUNED}, Pairs"].curve(contest))
    assert contest.deadline.used >= 1000.0
    contest.deadline = Deadline(np.inf)
    list(side.methods[UNPRUNED].curve(contest))
    assert contest.deadline.used < 1000.0
