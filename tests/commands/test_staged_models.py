"""Commands that read files of staged models: predictions, and what is in the files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetPredictor
from budgetprune.workflow.tables import read_table_for, rows_for

from .commands import check_refused


def test_predict(staged, run, files):
    model = staged.model
    written = pd.read_csv(io.StringIO(run("predict", model, files.test).out), keep_default_na=False)
    predictor = BudgetPredictor.load(model)
    rows = rows_for(predictor.forest, read_table_for(predictor.forest, files.test))
    found = predictor.simulate(rows)
    assert written["label"].tolist() == found.label.tolist()
    assert written["cost"].tolist() == pytest.approx(found.cost.tolist())
    assert written["probability"].tolist() == pytest.approx(found.probabilities.max(axis=1).tolist())
    full = pd.read_csv(io.StringIO(run("predict", model, files.test, "--full").out))
    assert full["cost"].nunique() == 1
    assert full["cost"][0] == pytest.approx(predictor.model.paid[-1])
    assert full["label"].tolist() == predictor.predict(rows).tolist()
    limited = pd.read_csv(io.StringIO(run("predict", model, files.test, "--max-cost", 2).out))
    assert limited["cost"].max() <= 2


def test_probabilities_are_not_made_larger(run, files, tmp_path):
    """With prices of errors, the label with the least expected cost may be the less probable one."""
    words = ["fit", files.data, "--target", "ill", "--out", tmp_path / "m", "--time-limit", 1, "--quiet"]
    assert run(*words, "--error-cost", "no=300", "--error-cost", 3).status == 0
    written = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", files.test).out))
    assert (written["probability"] < 0.5).any()


def test_columns_of_stages_that_no_row_reaches_may_be_absent(staged, run, files, tmp_path):
    cheap, loaded = tmp_path / "cheap", BudgetPredictor.load(staged.model)
    # The cheapest budget that buys anything, but not everything.
    tested = ((cost, loaded.with_budget(cost).forest) for cost in loaded.model.trade_off.cost.tolist())
    n_tested = ((cost, np.unique(forest.feature[forest.is_split]).size) for cost, forest in tested)
    budget = next(cost for cost, n in n_tested if 0 < n < 6)
    assert run("rebudget", staged.model, "--budget", repr(budget), "--out", cheap, "-q").status == 0
    predictor = BudgetPredictor.load(cheap)
    asked = {line["name"] for line in run("inspect", cheap, "--json").json["features"]}
    known = set(predictor.feature_names)
    assert asked < known
    frame = pd.read_csv(files.test)
    frame[sorted(asked)].to_csv(tmp_path / "few.csv", index=False)
    assert run("predict", cheap, tmp_path / "few.csv").out == run("predict", cheap, files.test).out
    check_refused(run("predict", cheap, tmp_path / "few.csv", "--full"), "lacks .*, which the model needs")


def test_inspect_and_path(staged, run, tmp_path):
    model, told = staged.model, staged.told
    said = run("inspect", model, "--json").json
    assert said["about"] == {name: told[name] for name in said["about"]}
    assert said["stages"] == told["stages"]
    assert said["curve"] == told["curve"]
    assert said["settings"] == {"max_cost": None}
    shown = run("inspect", model).out
    for words in ("stages", "as a staged model for budget 8.", "What each budget buys", "on 300 test rows"):
        assert words in shown
    points = run("path", model, "--json").json
    assert [point["cost"] for point in points["points"]] == told["curve"]["cost"]
    assert points["full_forest_cost"] is None
    assert run("path", model, "--out", tmp_path / "curve.csv").status == 0
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve["score"].tolist() == pytest.approx(told["curve"]["score"])
    assert f"of {len(curve)} points\n" in run("path", model, "--points", 3).out


def test_report(staged, run, files):
    told = run("report", staged.model, "--data", files.test, "--json", "-q").json
    own = told["points"][told["delivered"]]
    assert own["decided"]["cost"] == pytest.approx(staged.told["compared"]["chosen"]["cost"], rel=1e-4)
    assert own["decided"]["score"] == pytest.approx(staged.told["compared"]["chosen"]["score"], abs=1e-4)


def test_commands_that_are_for_pruned_models(staged, run, files, tmp_path):
    model = staged.model
    words = ["--data", files.data, "--target", "ill", "--out", tmp_path / "m"]
    check_refused(run("prune", model, *words), "a model that budgetprune made.* budgetprune rebudget")
