"""Pairs trees are pruned as entropy trees are, on the same rows, by the same clock."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.baselines import BudgetRF
from budgetprune_experiments import Options
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED
from budgetprune_experiments.pairs import NAMES, SIDES, _with_pairs
from budgetprune_experiments.task import Deadline


@pytest.fixture(scope="module")
def side():
    return SIDES[0]


@pytest.fixture(scope="module")
def task(side, tmp_path_factory):
    return side._task(0, Options(quick=True, out=tmp_path_factory.mktemp("out"), jobs=1))


def points(side, task, name):
    task.deadline = Deadline(np.inf)
    return list(side.methods[name].curve(task))


def test_both_forests_have_the_same_rows_prices_and_trees(side, task):
    other = _with_pairs(task)
    assert isinstance(other.base, BudgetRF)
    assert other.base.get_params()["n_estimators"] == task.base.n_estimators
    assert other.base.threshold == 0
    assert (other.base.impurity, other.base.rule) == ("pairs", "minimax")
    assert other.split is task.split
    assert other.costs is task.costs
    assert set(side.methods) == {*NAMES, *(f"{name}, Pairs" for name in NAMES)}


def test_methods_prune_the_forest_that_they_name(side, task):
    whole = {name: points(side, task, name)[0] for name in (UNPRUNED, f"{UNPRUNED}, Pairs")}
    entropy, pairs = (point.model().forest_ for point in whole.values())
    assert entropy.origin is not pairs.origin
    assert isinstance(pairs.origin, BudgetRF)
    assert not isinstance(entropy.origin, BudgetRF)
    for name in ("CCP", OURS_PAPER):
        for suffix, forest in (("", entropy), (", Pairs", pairs)):
            found = points(side, task, name + suffix)
            assert all(point.model().forest_.origin is forest.origin for point in found)
            assert max(point.model().forest_.n_splits for point in found) <= forest.n_splits
            assert max(point.cost for point in found) <= whole[UNPRUNED + suffix].cost + 1e-9


def test_growing_the_other_forest_is_charged_to_each_method(side, task):
    other = task.shared("task on Pairs", lambda: _with_pairs(task))
    list(side.methods[f"{UNPRUNED}, Pairs"].curve(task))
    other._results["forest"] = other._results["forest"][0], 1000.0  # as if it had taken that long
    task.deadline = Deadline(np.inf)
    list(side.methods[f"{UNPRUNED}, Pairs"].curve(task))
    assert task.deadline.used >= 1000.0
    task.deadline = Deadline(np.inf)
    list(side.methods[UNPRUNED].curve(task))
    assert task.deadline.used < 1000.0
