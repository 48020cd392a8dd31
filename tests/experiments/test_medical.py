"""Diagnoses: rows never mix, V chooses, and what was bought adds up to what was paid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import FeatureCosts, InvalidInputError
from budgetprune.datasets import medical as _medical
from budgetprune.selection import LabelledRows
from budgetprune_experiments import Options
from budgetprune_experiments.budget_results import (
    AS_GOOD,
    as_good_as,
    best_within,
    cheapest_reaching,
    choose,
    results_within_budgets,
    whole_forest,
)
from budgetprune_experiments.grids import QUICK
from budgetprune_experiments.medical import DECIDED, DEPTH, FOREST, REFITTED, Medical, methods
from budgetprune_experiments.methods import CASCADE, STAGED, SUBSETS
from budgetprune_experiments.patients import BREAST, HEART, THYROID, Diagnosis, Patients
from budgetprune_experiments.task import Point, Task


def _patients(in_test=None, n=200):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + 0.3 * random.normal(size=n) > 0).astype(np.int64)
    costs = FeatureCosts.from_sources(
        {"a": 2, "b": 3, "draw": 4}, {0: ["a", "draw"], 1: ["b", "draw"], 2: ["b"], 3: ["a"]}
    )
    return Patients(X, y, costs, in_test)


TOY = Diagnosis(
    "toy", lambda options: _patients(), (1.0, 6.0, 9.0), is_uneven=False, bases={"base": {}}, n_folds=2
)


def _ids(rows):
    return {row.tobytes() for row in rows.X}


# --- Rows ---------------------------------------------------------------------------------------------------


def test_every_patient_is_tested_once_and_parts_never_mix():
    patients = _patients()
    splits = TOY.splits(patients, seed=1)
    assert len(splits) == 2
    tested = [row for split in splits for row in _ids(split.test)]
    assert len(tested) == len(set(tested)) == 200
    for split in splits:
        parts = [_ids(rows) for rows in (split.train, split.val, split.test)]
        assert len(set.union(*parts)) == sum(map(len, parts)) == 200
        assert len(split.val) == pytest.approx(0.3 * 100, abs=2)
        assert split.val.y.mean() == pytest.approx(patients.y.mean(), abs=0.1)


def test_test_patients_that_the_source_fixes():
    in_test = np.arange(200) >= 150
    patients = _patients(in_test)
    fixed = replace(TOY, n_folds=None)
    splits = [fixed.splits(patients, seed)[0] for seed in (0, 1)]
    for split in splits:
        assert _ids(split.test) == {row.tobytes() for row in patients.X[150:]}
        assert len(split.train) + len(split.val) == 150
    assert _ids(splits[0].train) != _ids(splits[1].train)
    with pytest.raises(InvalidInputError, match="toy data has no `split`"):
        fixed.splits(_patients(), 0)


def test_real_data_in_small(tmp_path, monkeypatch):
    monkeypatch.delenv("BUDGETPRUNE_DATA", raising=False)
    for name in ("_THYROID", "_HEART"):  # other rows than those that are known
        monkeypatch.setattr(_medical, name, replace(getattr(_medical, name), digest=None))
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    names = np.array(["age", "TSH"])
    split = np.int8([0, 0, 0, 0, 0, 2, 2, 2])
    np.savez(tmp_path / "ann_thyroid.npz", X=X, y=np.arange(8) % 3 + 1, feature_names=names, split=split)
    names = np.array(["age", "thal"])
    np.savez(tmp_path / "heart_cleveland.npz", X=X, y=np.arange(8) % 5, feature_names=names)
    options = Options(data_dir=tmp_path)
    thyroid, heart = THYROID.load(options), HEART.load(options)
    assert thyroid.in_test.tolist() == (split == 2).tolist()
    assert thyroid.y.tolist() == [1, 2, 3, 1, 2, 3, 1, 2]
    assert "blood draw" in thyroid.costs.resolve(2).source_names
    assert heart.in_test is None
    assert heart.y.tolist() == [0, 1, 1, 1, 1, 0, 1, 1]
    assert "thallium stress test" in heart.costs.resolve(2).source_names


def test_classes_count_alike_where_they_are_uneven():
    y, label = np.array([0, 0, 0, 1]), np.zeros(4, dtype=int)
    assert THYROID.score(y, label) == 0.5
    assert HEART.score(y, label) == 0.75
    assert (THYROID.scoring, HEART.scoring) == ("balanced_accuracy", None)


# --- Choices ------------------------------------------------------------------------------------------------


def _points(*pairs):
    return [Point(f"{k}", cost, score, lambda: None) for k, (cost, score) in enumerate(pairs)]


def test_best_within_a_budget():
    points = _points((5, 0.9), (2, 0.8), (3, 0.8), (9, 0.95), (1, 0.5))
    assert best_within(points, 4).setting == "1"  # of equals the cheapest
    assert best_within(points, 9).setting == "3"
    assert best_within(points, 9 - 1e-12).setting == "3"
    assert best_within(points, 0.5) is None


def test_cheapest_that_reaches_a_score():
    points = _points((5, 0.9), (2, 0.8), (3, 0.85), (9, 0.95), (9, 0.9))
    assert cheapest_reaching(points, 0.82).setting == "2"
    assert cheapest_reaching(points, 0.9).setting == "0"
    assert cheapest_reaching(points, 0.99).setting == "3"  # nobody does: the best


def test_choices_for_budgets_and_for_forests():
    one, other = _points((4, 0.8), (8, 0.9)), _points((3, 0.7), (6, 0.95))
    chosen = choose({"a": one, "b": other}, {"a": 0.85, "b": 0.7}, (2, 4, 7))
    assert chosen == {
        "budget 4": one[0],
        "budget 7": other[1],
        AS_GOOD: other[1],  # as the better of the two forests
        as_good_as("a"): one[1],
        as_good_as("b"): other[0],
    }


def _tasks(patients, seed=0):
    def measure(model, rows):
        return TOY.score(rows.y, model.predict(rows.X))

    base = RandomForestClassifier(4, random_state=seed)
    return [
        {"base": Task(split, patients.costs, base, measure, grids=QUICK, seconds=0.0)}
        for split in TOY.splits(patients, seed)
    ]


@pytest.fixture(scope="module")
def records():
    patients = _patients()
    folds = _tasks(patients)
    return {
        method.name: results_within_budgets(method, folds, TOY, TOY.budgets)
        for method in methods(TOY.budgets)
    }


@pytest.mark.parametrize("name", [FOREST, DEPTH, SUBSETS, CASCADE, REFITTED, DECIDED, STAGED])
def test_what_is_bought_adds_up_to_the_cost(records, name):
    prices = {"a": 2, "b": 3, "draw": 4}
    assert AS_GOOD in [record["setting"] for record in records[name]]
    for record in records[name]:
        paid = sum(price * record["bought"][source] for source, price in prices.items())
        assert record["test_cost"] == pytest.approx(paid)
        assert record["n_test"] == 200
        assert len(record["points"]) == 2
        assert 0 <= record["test_score"] <= 1


def test_budgets_are_kept_on_validation_rows(records):
    for name in (DEPTH, SUBSETS, CASCADE, REFITTED, DECIDED, STAGED):
        for record in records[name]:
            if record["setting"].startswith("budget "):
                assert record["val_cost"] <= float(record["setting"].removeprefix("budget ")) + 1e-9
    # Nobody buys a source for 1, but one may always guess.
    assert next(record["setting"] for record in records[DEPTH]) != "budget 1"
    assert records[REFITTED][0]["setting"] == "budget 1"


def test_test_labels_choose_nothing(records):
    folds = _tasks(_patients())
    for tasks in folds:
        task = tasks["base"]
        test = task.split.test
        task.split = replace(task.split, test=LabelledRows(test.X, 1 - test.y))
    chosen = [each for each in methods(TOY.budgets) if each.name in (DEPTH, CASCADE, DECIDED, STAGED)]
    for method in chosen:
        for before, after in zip(
            records[method.name], results_within_budgets(method, folds, TOY, TOY.budgets), strict=True
        ):
            assert after["test_score"] == pytest.approx(1 - before["test_score"])
            assert after["points"] == before["points"]
            for key in ("setting", "val_cost", "val_score", "test_cost", "bought"):
                assert after[key] == before[key]


def test_the_forest_is_grown_again_on_all_but_test_rows():
    task = _tasks(_patients())[0]["base"]
    (point,) = whole_forest(task)
    # Trees weigh each of their rows once per draw, so the root knows how many there were.
    assert point.model().forest_.weight[0] == len(task.split.train)
    assert point.refit().forest_.weight[0] == len(task.split.train) + len(task.split.val)


# --- Tables -------------------------------------------------------------------------------------------------


COSTS = {FOREST: 20.0, DEPTH: 15.0, SUBSETS: 14.0, CASCADE: 7.0, REFITTED: 10.0, DECIDED: 5.0, STAGED: 2.0}


def test_tables_and_figure():
    from matplotlib.figure import Figure

    sources = [*BREAST.load(None).costs.resolve(30).source_names]
    records = [
        {"data": BREAST.name, "method": name, "seed": seed, "setting": setting, "seconds_tuning": 1.0}
        | {"test_cost": cost + seed, "test_score": 0.9, "n_test": 569}
        | {"bought": dict.fromkeys(sources, 0.0) | {"radius": cost / 40}}
        for name, cost in COSTS.items()
        for setting in (AS_GOOD, "budget 8")
        for seed in (0, 2)
    ]
    options = Options(quick=True, repeats=2)
    compared, budgets, purchases = Medical().tables(records, options)
    assert [row[1:4] for row in compared.rows][::5] == [
        [FOREST, "21.00 ± 1.41", "100%"],
        [DECIDED, "6.00 ± 1.41", "29%"],
    ]
    assert budgets.rows[0] == ["2", *[None] * 12]
    assert budgets.rows[1][:3] == ["8", "16.00 ± 1.41", "0.9000 ± 0.0000"]
    assert purchases.rows == [["radius", "1.00", "50.0", "37.5", "35.0", "17.5", "25.0", "12.5", "5.0"]]
    figure = Figure()
    Medical().draw(records, options, figure)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == list(COSTS)


def test_paper_has_no_time_limit():
    assert Medical().settings(Options(paper=True))["seconds"] is None
    assert Medical().settings(Options(quick=True))["seconds"] == 0
    keys = [part.key for part in Medical().parts(Options(repeats=2))]
    assert len(keys) == len(set(keys)) == 2 * 2 * 7
