"""Feature subsets and cascades in a task: chosen on T and V, trained again on both, and paid by stage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score

from budgetprune import FeatureCosts
from budgetprune_experiments import Options
from budgetprune_experiments.grids import QUICK, BoostingGrid
from budgetprune_experiments.methods import CASCADE, METHODS, SUBSETS
from budgetprune_experiments.miniboone import miniboone_split
from budgetprune_experiments.subset_methods import Nested, _numbered
from budgetprune_experiments.task import Deadline, Task

GRIDS = replace(QUICK, subsets=BoostingGrid((), (4, 7), (3, 10)))


def task(seconds=np.inf, class_weight=None, grids=GRIDS, measure=None):
    return Task(
        miniboone_split(0, Options(quick=True, jobs=1)),
        FeatureCosts(),
        RandomForestClassifier(2, class_weight=class_weight),
        measure or (lambda model, rows: float(np.mean(model.predict(rows.X) == rows.y))),
        grids=grids,
        seconds=seconds,
    )


@pytest.fixture(scope="module")
def whole():
    """A task without a time limit, and all points of both methods."""
    some = task()
    points = {}
    for name in (SUBSETS, CASCADE):
        some.deadline = Deadline(np.inf)
        points[name] = list(METHODS[name].curve(some))
    return some, points


def test_every_size_and_number_of_rounds_is_tried(whole):
    some, points = whole
    n_subsets = len(Nested.of(some).price)
    assert len(points[SUBSETS]) == n_subsets * 2 * 2
    for name in (SUBSETS, CASCADE):
        settings = [point.setting for point in points[name]]
        assert len(settings) == len(set(settings))
        tuned = {setting.partition(", ")[2] for setting in settings}
        assert tuned == {f"{size} leaves, {rounds} rounds" for size in (4, 7) for rounds in (3, 10)}


def test_without_time_there_are_few_points():
    for name in (SUBSETS, CASCADE):
        some = task(0.0)
        points = list(METHODS[name].curve(some))
        assert all("4 leaves" in point.setting for point in points)
        if name == SUBSETS:
            assert len(points) == GRIDS.n_reported * 2  # numbers of rounds
        else:
            assert all("10 rounds" in point.setting for point in points)


def test_only_the_first_size_may_take_more_time_than_there_is():
    nested = Nested.of(task(0.0))
    assert [len(list(nested.within_time(size))) for size in GRIDS.subsets.sizes] == [GRIDS.n_reported, 1]


def test_subsets_cost_the_same_for_every_row(whole):
    some, points = whole
    for point in points[SUBSETS][::7]:
        for model in (point.model(), point.refit()):
            assert set(model.acquisition_cost(some.split.test.X)) == {point.cost}


def test_models_are_trained_again_on_t_and_v(whole):
    some, points = whole
    for name in (SUBSETS, CASCADE):
        point = points[name][-1]
        first, again = point.model(), point.refit()
        np.testing.assert_array_equal(first.threshold, again.threshold)
        rows = [model.models[0].booster.trees_to_dataframe().query("tree_index == 0")["count"].max()
                for model in (first, again)]  # fmt: skip
        assert rows == [len(some.split.train), len(some.split.train_and_val)]


def test_with_the_largest_lambda_every_row_stops_at_once(whole):
    some, points = whole
    # Whatever rows the rules are from, so V sees what it would see of the model itself.
    first = points[CASCADE][0]
    assert (first.cost, first.score) == pytest.approx(some.on(first.model(), some.split.val))
    assert first.cost == points[SUBSETS][0].cost == 1


def test_both_methods_share_their_models():
    some = task(0.0)
    list(METHODS[SUBSETS].curve(some))
    made = dict(some._results)
    some.deadline = Deadline(0.0)
    list(METHODS[CASCADE].curve(some))
    assert some._results.keys() == made.keys()


def test_classes_weigh_as_much_as_in_the_base_forest():
    some = task(
        0.0, "balanced", measure=lambda model, rows: balanced_accuracy_score(rows.y, model.predict(rows.X))
    )
    rows = _numbered(some, some.split.train)
    assert rows.weight[rows.y == 0].sum() == pytest.approx(rows.weight[rows.y == 1].sum())
    assert _numbered(task(), some.split.train).weight is None
    for name in (SUBSETS, CASCADE):
        some.deadline = Deadline(0.0)
        assert max(point.score for point in METHODS[name].curve(some)) > 0.8
