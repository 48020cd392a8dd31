"""Files of staged models: another budget, predictions, and what is in them."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetPredictor
from budgetprune.model import BudgetModel
from budgetprune.workflow.tables import read_table_for, rows_for

from ..golden.write import FOLDER
from .commands import HINT_COSTS, check_refused, hints

# --- rebudget -----------------------------------------------------------------------------------------------


def test_another_budget(staged, run, files, tmp_path):
    model = staged.model
    said = run("rebudget", model, "--budget", 3, "--out", tmp_path / "cheap", "--json")
    loaded, cheap = BudgetModel.load(model), BudgetModel.load(tmp_path / "cheap")
    expected = loaded.predictor.with_budget(3)
    assert cheap.predictor.model.point == expected.model.point
    assert said.json["cost"] == pytest.approx(expected.model.trade_off.cost[expected.model.point])
    assert said.json["cost"] <= 3
    assert (cheap.about.budget, cheap.about.target, cheap.about.compared) == (3, "ill", None)
    own = loaded.predictor.model
    before = repr(float(own.trade_off.cost[own.point]))
    assert run("rebudget", tmp_path / "cheap", "--budget", before, "--out", tmp_path / "back").status == 0
    rows = rows_for(loaded.predictor.forest, read_table_for(loaded.predictor.forest, files.test))
    one, other = (each.simulate(rows) for each in (loaded.predictor, BudgetPredictor.load(tmp_path / "back")))
    assert np.array_equal(one.label, other.label)
    assert np.array_equal(one.cost, other.cost)
    shown = run("rebudget", model, "--out", tmp_path / "best").out
    assert "stage by stage" in shown
    assert BudgetModel.load(tmp_path / "best").about.budget is None


def test_a_model_is_replaced_only_if_that_is_said(staged, run, tmp_path):
    model = staged.model
    own = tmp_path / "own"
    own.write_bytes(model.read_bytes())
    check_refused(run("rebudget", own, "--budget", 3, "--out", own), "is the model itself; add --force")
    assert own.read_bytes() == model.read_bytes()
    assert run("rebudget", own, "--budget", 3, "--out", own, "--force").status == 0
    assert BudgetModel.load(own).about.budget == 3


def test_what_rebudget_refuses(run, tmp_path):
    golden = FOLDER / "averaged-1.budgetprune"
    said = run("rebudget", golden, "--budget", 1, "--out", tmp_path / "n")
    check_refused(said, "a pruned model is for one budget; only staged models")
    hints(400).to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "c.csv").write_text(HINT_COSTS)
    words = ["fit", tmp_path / "d.csv", "--target", "ill", "--costs", tmp_path / "c.csv", "--out"]
    assert run(*words, tmp_path / "m", "--quiet").status == 0
    said = run("rebudget", tmp_path / "m", "--budget", 0.5, "--out", tmp_path / "n")
    check_refused(said, "a budget of 0.5 is too small for the stages .* costs [0-9.]+ per prediction")
    needed = float(re.search(r"useful point costs ([0-9.]+)", said.err)[1])
    assert run("rebudget", tmp_path / "m", "--budget", needed, "--out", tmp_path / "n").status == 0
    check_refused(run("rebudget", tmp_path / "m", "--budget", "nan", "--out", tmp_path / "n"), "--budget")


# --- Other commands -----------------------------------------------------------------------------------------


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
    check_refused(run("predict", cheap, tmp_path / "few.csv", "--full"), "lacks .*, which the model asks for")


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
