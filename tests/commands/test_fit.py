"""``budgetprune fit``: from a table and prices to a model within budget."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from budgetprune import BudgetPredictor
from budgetprune.model import BudgetModel
from budgetprune.problem.acquisition import sources_used
from budgetprune.workflow.tables import read_table_for, rows_for

from .commands import FOREST, TOWNS, patients


def test_what_is_told_is_true(files):
    """Costs, scores and features of the comparison, counted again on the test rows from the model file."""
    told = json.loads(files.said)
    model = BudgetModel.load(files.model)
    assert model.about.to_json() == {name: told[name] for name in model.about.to_json()}
    assert told["task"] == "classification"
    assert told["compared"]["rows"] == "test"
    truth = pd.read_csv(files.test)["ill"].to_numpy()
    costs = model.predictor.costs
    for forest, figures in ((model.path.forest, "whole"), (model.predictor.forest, "chosen")):
        rows = rows_for(forest, read_table_for(forest, files.test))
        known = told["compared"][figures]
        assert known["cost"] == pytest.approx(costs.total(sources_used(forest, costs, rows)).mean())
        assert known["decided_cost"] == pytest.approx(
            BudgetPredictor(forest, costs).simulate(rows).cost.mean()
        )
        assert known["score"] == np.mean(forest.predict(rows) == truth)
        assert known["n_features"] == np.unique(forest.feature[forest.is_split]).size
        assert known["n_splits"] == forest.n_splits
    assert told["compared"]["chosen"]["score"] > 0.8
    assert told["compared"]["chosen"]["cost"] < 14 < told["compared"]["whole"]["cost"]


def test_every_stage_is_told(files):
    for stage in ("reading", "dividing 500 rows", "growing 12 trees", "pruning", "comparing", "writing"):
        assert stage in files.told
    assert files.told.count(" s\n") == 7  # test rows are read too


def test_an_encoded_column_is_one_source(files):
    model = BudgetModel.load(files.model)
    costs = model.predictor.costs
    assert model.predictor.feature_names == ("age", "town", "smoker", "grade", "lab", "marker")
    assert costs.source_names == ("age", "town", "smoker", "lab", "marker", "blood draw")
    assert costs.price_alone.tolist() == [1, 2, 1, 0, 9, 8]
    known = model.path.forest.categories
    assert sorted(known[1]) == sorted(TOWNS)
    assert sorted(known[2]) == [False, True]
    assert known[0] is known[3] is None
    # In the order of what their patients answer: people from Bonn are rarely ill, from Aix often.
    assert (known[1][0], known[1][-1]) == ("Bonn", "Aix")


def test_unseen_categories_are_missing_values(files):
    forest = BudgetModel.load(files.model).path.forest
    table = read_table_for(forest, files.test)
    rows = rows_for(forest, table).head(50)
    unseen, missing = rows.assign(town="Genoa"), rows.assign(town=None)
    assert forest.predict_proba(unseen).tolist() == forest.predict_proba(missing).tolist()
    assert forest.predict_proba(unseen).tolist() != forest.predict_proba(rows).tolist()


def test_the_same_seed_makes_the_same_model(files, run, tmp_path):
    words = [*FOREST, files.data, "--target", "ill", "--costs", files.costs, "--budget", 13.5, "--trees", 12]
    said = run(*words, "--test", files.test, "--out", tmp_path / "m", "--quiet")
    assert said == (0, "", "")
    assert (tmp_path / "m").read_bytes() == files.model.read_bytes()
    assert run(*words, "--test", files.test, "--out", tmp_path / "m", "--seed", 1, "-q").status == 0
    assert (tmp_path / "m").read_bytes() != files.model.read_bytes()


def test_a_table_for_people(files, run, tmp_path):
    said = run(*FOREST, files.data, "--target", "ill", "--budget", 3, "--trees", 5, "--out", tmp_path / "m")
    assert said.status == 0
    assert "150 validation rows, cross-fitted" in said.out
    assert "full forest" in said.out
    assert "your model" in said.out
    assert "budget 3 (full cost)" in said.out
    assert "for an unbiased comparison, add --test" in said.out
    assert f"Written: {tmp_path / 'm'}" in said.out.replace("\n", "")
    about = BudgetModel.load(tmp_path / "m").about
    assert about.compared.rows == "validation"
    # Cross-fitted, and no score of rows that refitted the leaves.
    assert min(about.tradeoff["score"]) <= about.compared.chosen.score <= max(about.tradeoff["score"])
    assert about.compared.chosen.cost <= 3 + 1e-9


@pytest.mark.parametrize("kind", ["random-forest", "extra-trees", "lightgbm"])
def test_regression_with_each_kind_of_model(kind, run, tmp_path):
    patients(400).drop(columns="ill").to_csv(tmp_path / "d.csv", index=False)
    patients(200, seed=1).drop(columns="ill").to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "d.csv", "--target", "risk", "--model", kind, "--trees", 10, "--budget", 4.5]
    told = run(*words, "--test", tmp_path / "t.csv", "--out", tmp_path / "m", "--json").json
    assert (told["task"], told["score_name"], told["model"]) == ("regression", "R²", kind)
    assert told["compared"]["chosen"]["score"] > 0.5
    assert told["compared"]["chosen"]["cost"] <= 5
    model = BudgetModel.load(tmp_path / "m")
    forest = model.path.forest
    assert forest.categories[1] is not None
    if kind == "lightgbm":
        assert (forest.category_set[forest.feature == 1] >= 0).all()  # divided as sets
    rows = rows_for(forest, read_table_for(forest, tmp_path / "t.csv"))
    truth = pd.read_csv(tmp_path / "t.csv")["risk"]
    score = 1 - np.mean((forest.predict(rows) - truth) ** 2) / np.var(truth)
    assert told["compared"]["whole"]["score"] == pytest.approx(score)


def test_decided_costs(files, run, tmp_path):
    words = [
        *FOREST,
        files.data,
        "--target",
        "ill",
        "--costs",
        files.costs,
        "--budget",
        13.5,
        "--trees",
        12,
        "--decided",
    ]
    told = run(*words, "--model", "lightgbm", "--slack", 0.2, "--out", tmp_path / "m", "--json").json
    model = BudgetModel.load(tmp_path / "m")
    assert told["counting"] == "decided"
    assert model.predictor.slack == 0.2
    assert told["compared"]["chosen"]["decided_cost"] <= 13.5 < told["compared"]["chosen"]["cost"]


def test_parquet_and_svmlight(run, tmp_path):
    frame = patients(300).drop(columns="risk")
    frame.to_parquet(tmp_path / "d.parquet")
    words = ["--trees", 5, "--budget", 3, "--out", tmp_path / "m", "--json"]
    told = run(*FOREST, tmp_path / "d.parquet", "--target", "ill", *words).json
    assert told["compared"]["chosen"]["n_features"] <= 6
    X = frame[["lab", "marker", "grade"]].to_numpy(dtype=float)
    dump_svmlight_file(X, (frame["ill"] == "yes").astype(int), str(tmp_path / "d.svm"), zero_based=False)
    told = run(*FOREST, tmp_path / "d.svm", "--test", tmp_path / "d.svm", *words).json
    assert (told["target"], told["task"]) == ("label", "classification")
    assert BudgetModel.load(tmp_path / "m").predictor.feature_names == ("x1", "x2", "x3")


def test_without_a_budget_the_best_is_taken(files, run, tmp_path):
    told = run(*FOREST, files.data, "--target", "ill", "--trees", 5, "--out", tmp_path / "m", "--json").json
    best = int(np.argmax(told["tradeoff"]["score"]))
    assert told["budget"] is None
    assert told["compared"]["chosen"]["cost"] <= told["tradeoff"]["full_cost"][best] + 1e-9


def test_notes(run, tmp_path):
    frame = patients(60).drop(columns="risk").assign(who=[f"patient {k}" for k in range(60)])
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = [
        *FOREST,
        tmp_path / "d.csv",
        "--target",
        "ill",
        "--trees",
        5,
        "--budget",
        3,
        "--out",
        tmp_path / "m",
    ]
    said = run(*words)
    assert "note: column 'who' has 60 different texts" in said.err
    assert "note: 18 validation rows are too few to choose settings" in said.err
    assert said.status == 0
    assert run(*words, "--quiet").err == ""
