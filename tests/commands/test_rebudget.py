"""``budgetprune rebudget``: another budget for a staged model."""

from __future__ import annotations

import re

import numpy as np
import pytest

from budgetprune import BudgetPredictor
from budgetprune.model import BudgetModel
from budgetprune.workflow.tables import read_table_for, rows_for

from ..golden.write import FOLDER
from .commands import HINT_COSTS, check_refused, hints


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
    check_refused(said, "this pruned model has no path with it, so it has one budget only")
    hints(400).to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "c.csv").write_text(HINT_COSTS)
    words = ["fit", tmp_path / "d.csv", "--target", "ill", "--costs", tmp_path / "c.csv", "--out"]
    assert run(*words, tmp_path / "m", "--quiet").status == 0
    said = run("rebudget", tmp_path / "m", "--budget", 0.5, "--out", tmp_path / "n")
    check_refused(said, "a budget of 0.5 is too small for the stages .* costs [0-9.]+ per prediction")
    needed = float(re.search(r"useful point costs ([0-9.]+)", said.err)[1])
    assert run("rebudget", tmp_path / "m", "--budget", needed, "--out", tmp_path / "n").status == 0
    check_refused(run("rebudget", tmp_path / "m", "--budget", "nan", "--out", tmp_path / "n"), "--budget")
