"""Values that are spelled otherwise, unknown categories, and class names that look like numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from budgetprune.model import BudgetModel

from .commands import FOREST, check_refused, patients

WORDS = ["--target", "ill", "--trees", 4, "--budget", 4]


@pytest.fixture
def fit(run, tmp_path):
    """Fit a table that is written first."""

    def call(frame, *words, **how):
        frame.to_csv(tmp_path / "own.csv", index=False, **how)
        return run(*FOREST, tmp_path / "own.csv", *WORDS, "--out", tmp_path / "m", *words)

    return call


def test_truth_values_however_they_are_spelled(files, run, tmp_path):
    frame = pd.read_csv(files.test)
    expected = run("predict", files.model, files.test).out
    for true, false in ((1, 0), ("TRUE", "false"), (1.0, 0.0), ("1", "0")):
        smoker = np.where(frame["smoker"], true, false)
        frame.assign(smoker=smoker).to_csv(tmp_path / "t.csv", index=False)
        said = run("predict", files.model, tmp_path / "t.csv")
        assert said.out == expected
        assert "note" not in said.err


def test_unknown_categories_are_told(files, run, tmp_path):
    frame = pd.read_csv(files.test)
    smoker = frame["smoker"].astype(object).where(frame.index > 2, "maybe")
    frame.assign(town="Paris", smoker=smoker).to_csv(tmp_path / "t.csv", index=False)
    said = run("predict", files.model, tmp_path / "t.csv", "--out", tmp_path / "p.csv")
    assert said.status == 0
    assert "note: column 'town' of" in said.err
    assert "300 of 300 values are none of the categories that the model knows" in said.err
    assert "and count as missing ('Paris', say)" in said.err
    assert "3 of 300 values are none" in said.err


def test_class_names_that_look_like_numbers(fit, run, tmp_path):
    frame = patients(400).drop(columns="risk")
    frame["ill"] = frame["ill"].map({"yes": "01", "no": "02"})
    assert fit(frame, "--test", tmp_path / "own.csv").status == 0
    assert BudgetModel.load(tmp_path / "m").predictor.forest.classes.tolist() == ["01", "02"]
    written = run("predict", tmp_path / "m", tmp_path / "own.csv").out.splitlines()
    assert {line.split(",")[0] for line in written[1:]} == {"01", "02"}
    told = run(
        "report", tmp_path / "m", "--data", tmp_path / "own.csv", "--out", tmp_path / "r.html", "--json"
    )
    assert json.loads(told.out)
    frame.loc[0, "ill"] = "1A"
    check_refused(fit(frame), "or say .*--task classification. if these are names of classes")


def test_one_test_row_has_no_r2(run, tmp_path):
    frame = patients(300).drop(columns="ill")
    frame.to_csv(tmp_path / "own.csv", index=False)
    frame[:1].to_csv(tmp_path / "one.csv", index=False)
    words = [*FOREST, tmp_path / "own.csv", "--target", "risk", "--trees", 4, "--out", tmp_path / "m"]
    told = run(*words, "--test", tmp_path / "one.csv", "--json").json
    assert told["compared"]["whole"]["score"] is None
    assert "on 1 test row\n" in run(*words, "--test", tmp_path / "one.csv").out
