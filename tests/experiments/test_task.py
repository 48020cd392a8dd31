"""Evaluation of methods on equal terms: V chooses, test rows report, shared work is charged to each."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.costs import FeatureCosts
from budgetprune.selection import LabelledRows
from budgetprune_experiments import task as _task
from budgetprune_experiments.split import Split
from budgetprune_experiments.task import Deadline, Method, Point, Task, coarse_to_fine, evaluate_method


class Model:
    """Costs and scores by role: the first column of X says which rows these are."""

    def __init__(self, val, test):
        self._of = {1.0: val, 2.0: test}

    def acquisition_cost(self, X):
        return np.full(len(X), self._of[X[0, 0]][0])

    def score(self, X):
        return self._of[X[0, 0]][1]


def rows(role):
    return LabelledRows(np.full((4, 1), float(role)), np.zeros(4, dtype=np.int64))


@pytest.fixture
def task():
    split = Split(7, rows(0), rows(1), rows(2))
    return Task(split, FeatureCosts(), None, lambda model, some: model.score(some.X), seconds=100.0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is told how much time has passed."""
    now = [0.0]
    monkeypatch.setattr(_task.time, "perf_counter", lambda: now[0])

    def passes(seconds):
        now[0] += seconds

    return passes


def test_v_chooses_and_test_rows_report(task):
    # On test rows, the second is worse than what it beats on V, and the third would be the best of all.
    models = {
        "cheap": ((1, 0.5), (1.5, 0.4)),
        "good": ((2, 0.9), (2.5, 0.3)),
        "beaten": ((3, 0.8), (0.1, 1.0)),
    }
    method = Method("m", lambda c: (c.point(name, Model(*both)) for name, both in models.items()))
    records = evaluate_method(method, task)
    assert [
        (r["setting"], r["val_cost"], r["val_score"], r["test_cost"], r["test_score"]) for r in records
    ] == [
        ("cheap", 1, 0.5, 1.5, 0.4),
        ("good", 2, 0.9, 2.5, 0.3),
    ]
    assert all((r["method"], r["seed"], r["n_tried"]) == ("m", 7, 3) for r in records)
    assert all((r["n_train"], r["n_validation"], r["n_test"]) == (4, 4, 4) for r in records)


def test_what_was_chosen_is_trained_again_while_there_is_time(task, clock):
    def again(k):
        clock(30)
        return Model((0, 0), (k, 0.5))

    def curve(c):
        for k in range(1, 9):
            yield Point(str(k), k, k / 10, lambda: Model((0, 0), (100, 0)), lambda k=k: again(k))

    records = evaluate_method(Method("m", curve), task)
    assert [r["trained_on"] for r in records] == ["T and V"] * 4 + ["T"] * 4


def test_records_say_whose_labels_a_model_is_made_of(task):
    def curve(c):
        yield Point("pruned", 1, 0.5, lambda: Model((0, 0), (1, 0.5)))
        yield Point("refitted", 2, 0.9, lambda: Model((0, 0), (2, 0.5)), trained_on="T and V")

    assert [r["trained_on"] for r in evaluate_method(Method("m", curve), task)] == ["T", "T and V"]


def test_models_that_take_long_are_left_out_once_time_is_up(task, clock):
    def make(k):
        clock(30)
        return Model((0, 0), (k, 0.5))

    method = Method("m", lambda c: (Point(str(k), k, k / 10, lambda k=k: make(k)) for k in range(1, 9)))
    records = evaluate_method(method, task)
    # The ends first, and then what is farthest from all that is there, where small costs count more.
    assert [r["setting"] for r in records] == ["1", "2", "4", "8"]


def test_what_costs_nothing_is_no_point_unless_all_do(task):
    def method(*costs):
        return Method("m", lambda c: (c.point(str(k), Model((k, k + 0.1), (k, 0.5))) for k in costs))

    assert [r["setting"] for r in evaluate_method(method(0, 1, 2), task)] == ["1", "2"]
    assert [r["setting"] for r in evaluate_method(method(0), task)] == ["0"]


def test_a_curve_is_reported_at_few_points_that_are_spread_out(task):
    method = Method("m", lambda c: (c.point(str(k), Model((k, k), (k, k))) for k in range(1, 101)))
    found = [r["test_cost"] for r in evaluate_method(method, task)]
    assert len(found) == task.grids.n_reported
    assert (found[0], found[-1]) == (1, 100)
    assert max(np.diff(np.sqrt(found))) < 2


def test_time_is_up(clock):
    deadline = Deadline(10.0)
    taken = []
    for item in deadline.within(range(100), at_least=2):
        taken.append(item)
        clock(4)
    assert taken == [0, 1, 2]
    assert list(Deadline(0.0).within(range(9), at_least=2)) == [0, 1]
    assert list(Deadline(np.inf).within(range(9))) == list(range(9))


def test_what_is_shared_is_made_once_and_charged_to_each_method_once(task, clock):
    made = []

    def make():
        made.append(1)
        clock(30)
        return "forest"

    task.deadline = first = Deadline(100.0)
    assert task.shared("forest", make) == task.shared("forest", make) == "forest"
    assert first.used == 30
    task.deadline = second = Deadline(100.0)
    clock(1)
    assert task.shared("forest", make) == task.shared("forest", make) == "forest"
    assert second.used == 31
    assert made == [1]


@pytest.mark.parametrize("seed", range(5))
def test_from_coarse_to_fine(seed):
    values = np.random.default_rng(seed).normal(size=40)
    order = coarse_to_fine(values)
    assert sorted(order) == list(range(40))
    assert {order[0], order[1]} == {values.argmin(), values.argmax()}
    # Each is as far as possible from all before it.
    for k in range(2, 40):
        distance = np.abs(values[:, None] - values[order[:k]]).min(axis=1)
        assert distance[order[k]] == distance.max()
    assert list(coarse_to_fine(values, 5)) == list(order[:5])


def test_equal_values_come_once():
    assert list(coarse_to_fine([1.0, 1.0, 2.0])) == [0, 2]
    assert list(coarse_to_fine([])) == []
