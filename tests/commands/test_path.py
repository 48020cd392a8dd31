"""``budgetprune path``: the points of a model file."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from budgetprune.model import BudgetModel

from ..golden.write import FOLDER
from .commands import check_refused


def test_the_whole_path(files, run, tmp_path):
    path = BudgetModel.load(files.model).path
    assert run("path", files.model, "--out", tmp_path / "curve.csv").status == 0
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert list(curve) == ["lam", "splits", "cost", "error", "accuracy"]
    assert curve["cost"].tolist() == pytest.approx(path.cost.tolist())
    assert curve["splits"].tolist() == path.n_splits.tolist()
    told = json.loads(files.said)["tradeoff"]
    assert curve["accuracy"].dropna().tolist() == pytest.approx(told["score"])
    assert curve["cost"][curve["accuracy"].notna()].tolist() == pytest.approx(told["full_cost"])
    points = run("path", files.model, "--json").json["points"]
    assert [point["lam"] for point in points] == pytest.approx(path.lam.tolist())
    shown = run("path", files.model, "--points", 3).out
    assert f"3 of {len(path)} points; the full forest costs {path.unpruned.cost:.4g}" in shown


def test_a_model_without_a_path(run):
    golden = FOLDER / "averaged-1.budgetprune"
    check_refused(run("path", golden), "holds no path, only the model that was chosen")
    said = run("inspect", golden)
    assert said.status == 0
    assert "Predicts classes no, yes with 4 trees" in said.out
    assert "slack 0.1" in said.out


def test_all_points_of_a_short_path_are_shown(files, run):
    n_points = len(BudgetModel.load(files.model).path)
    said = run("path", files.model, "--points", n_points).out
    assert f"{n_points} of {n_points} points" in said
