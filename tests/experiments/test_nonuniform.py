"""Prices from an SVM's weights, and methods that prune the same forest at these and at unit costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetprune.selection import LabelledRows
from budgetprune_experiments import Options
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED
from budgetprune_experiments.nonuniform import COMPARED, TWICE, Nonuniform, svm_prices
from budgetprune_experiments.task import Deadline


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(
        3000, n_features=8, n_informative=2, n_redundant=0, shuffle=False, class_sep=2.0, random_state=0
    )
    return LabelledRows(X, y)


def test_useful_features_are_dear(rows):
    prices = svm_prices(rows)
    assert prices.sum() == pytest.approx(8)
    assert prices[:2].max() == prices.max() > 2 * prices[2:].max()
    # Whole multiples of the least price, before they are scaled.
    multiple = prices / prices.min()
    np.testing.assert_allclose(multiple, np.rint(multiple))


def test_prices_are_the_same_in_any_unit(rows):
    scale = 10.0 ** np.arange(-3, 5)
    np.testing.assert_allclose(svm_prices(LabelledRows(rows.X * scale, rows.y)), svm_prices(rows))
    constant = np.column_stack([rows.X, np.zeros(len(rows))])
    assert svm_prices(LabelledRows(constant, rows.y))[-1] == svm_prices(LabelledRows(constant, rows.y)).min()


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return Options(quick=True, out=tmp_path_factory.mktemp("out"), jobs=1)


def test_prices_know_training_rows_only(options):
    experiment = Nonuniform()
    split = experiment.split(0, options)
    flipped = replace(
        split,
        val=LabelledRows(-split.val.X, 1 - split.val.y),
        test=LabelledRows(-split.test.X, 1 - split.test.y),
    )
    n_features = split.train.X.shape[1]
    one, other = (experiment.costs(each).resolve(n_features).price for each in (split, flipped))
    np.testing.assert_array_equal(one, other)
    assert one.max() > 2 * one.min()
    kept = next(part for part in experiment.parts(options) if part.key == "seed 0, prices").run()
    np.testing.assert_allclose(kept[0]["prices"], one, atol=1e-4)


def test_twins_prune_the_same_forest_at_unit_costs(options):
    experiment = Nonuniform()
    task = experiment._task(0, options)
    assert set(experiment.methods) == {*COMPARED, *(f"{name}, unit costs" for name in TWICE)}
    for name in TWICE:
        found = []
        for each in (name, f"{name}, unit costs"):
            task.deadline = Deadline(np.inf)
            found.append(list(experiment.methods[each].curve(task)))
        priced, unit = found
        assert priced[0].model().forest_.origin is unit[0].model().forest_.origin
        assert set(unit[0].model().prices.price) == {1.0}
        assert len(set(priced[0].model().prices.price)) > 1
        cost = unit[0].model().acquisition_cost(task.split.val.X)
        assert np.all(cost == np.rint(cost))
        assert unit[0].cost == pytest.approx(cost.mean())


def test_tables_tell_what_is_lost(options):
    experiment = Nonuniform()
    records = [{"seed": 0, "prices": [1.0, 3.0, 2.0]}]
    for name in experiment.methods:
        for cost, score in ((1.0, 0.7), (30.0, 0.9 if name == "CCP" else 0.95)):
            records.append(
                {
                    "method": name,
                    "seed": 0,
                    "n_train": 1,
                    "n_validation": 1,
                    "n_test": 1,
                    "test_cost": cost,
                    "test_score": score,
                    "seconds_tuning": 1.0,
                }
            )
    claim, everything, prices = experiment.tables(records, options)
    names = [each for name in ("CCP", OURS_PAPER) for each in (f"{name}, unit costs", name)]
    assert [row[0] for row in claim.rows] == names
    assert claim.rows[0][1:] == claim.rows[2][1:] == claim.rows[3][1:] != claim.rows[1][1:]
    assert UNPRUNED in [row[0] for row in everything.rows]
    assert prices.rows[0][-1] == "x1, x2, x0"
