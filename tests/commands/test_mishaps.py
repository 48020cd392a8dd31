"""What happens to people: files that would be lost, values that are spelled otherwise, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

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


def test_what_is_read_is_not_overwritten(files, run, tmp_path):
    for name in ("data", "costs", "model"):
        (tmp_path / name).with_suffix(".csv").write_bytes(getattr(files, name).read_bytes())
    data, costs, model = (tmp_path / f"{name}.csv" for name in ("data", "costs", "model"))
    for words in (
        [*FOREST, data, "--target", "ill", "--out", data],
        [*FOREST, data, "--target", "ill", "--costs", costs, "--out", costs],
        [*FOREST, data, "--target", "ill", "--test", costs, "--out", tmp_path / "." / "costs.csv"],
        ["predict", model, data, "--out", data],
        ["path", model, "--out", model],
        ["report", model, "--data", data, "--out", model],
        ["costs", "init", data, "--target", "ill", "--out", data, "--force"],
    ):
        check_refused(run(*words), "would replace what is read from there; name another file")
    for name, file in (("data", data), ("costs", costs), ("model", model)):
        assert file.read_bytes() == getattr(files, name).read_bytes()


def test_a_folder_that_nothing_can_be_written_to(files, run, monkeypatch):
    import budgetprune.utils.files as _files

    def refuse(*_where):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_files, "_open_draft", refuse)
    words = [*FOREST, files.data, "--target", "ill", "--out", files.folder / "m"]
    check_refused(run(*words), r"nothing can be written to .*\(Permission denied\); name a file in another")


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
    check_refused(fit(frame), "or say --task classification if these are names of classes")


def test_one_test_row_has_no_r2(run, tmp_path):
    frame = patients(300).drop(columns="ill")
    frame.to_csv(tmp_path / "own.csv", index=False)
    frame[:1].to_csv(tmp_path / "one.csv", index=False)
    words = [*FOREST, tmp_path / "own.csv", "--target", "risk", "--trees", 4, "--out", tmp_path / "m"]
    told = run(*words, "--test", tmp_path / "one.csv", "--json").json
    assert told["compared"]["whole"]["score"] is None
    assert "on 1 test row\n" in run(*words, "--test", tmp_path / "one.csv").out


def test_digits_are_kept(files, run):
    told = run("predict", files.model, files.test, "--json").json["predictions"]
    written = run("predict", files.model, files.test).out.splitlines()[1:]
    assert [str(line["probability"]) for line in told] == [line.split(",")[1] for line in written]


def test_nothing_is_computed_for_nobody(files, run):
    check_refused(run("predict", files.model, files.test, "--quiet"), "add --out or --json")
    check_refused(run("costs", "init", files.data, "--target", "ill", "--quiet"), "add --out or --json")


def test_all_points_of_a_short_path_are_shown(files, run):
    n_points = len(BudgetModel.load(files.model).path)
    said = run("path", files.model, "--points", n_points).out
    assert f"{n_points} of {n_points} points" in said


def test_a_lightgbm_file_that_was_cut(run, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    frame = patients(400)[["age", "lab", "ill"]]
    frame["ill"] = (frame["ill"] == "yes").astype(int)
    frame[200:].to_csv(tmp_path / "own.csv", index=False)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    text = model.fit(frame[["age", "lab"]][:200], frame["ill"][:200]).booster_.model_to_string()
    whole = tmp_path / "b.txt"
    words = ["prune", whole, "--data", tmp_path / "own.csv", "--target", "ill", "--out", tmp_path / "m"]
    for n_bytes in (len(text) // 4, len(text) // 2):
        whole.write_text(text[:n_bytes])
        check_refused(run(*words), "b.txt cannot be loaded: it is damaged or incomplete")
    whole.write_text(text.replace("leaf_value=", "leaf_value=1 ", 1))
    check_refused(run(*words), "b.txt cannot be loaded: it is damaged")
    whole.write_text(text)
    assert run(*words).status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interruption_is_told(tmp_path):
    patients(20_000).drop(columns="risk").to_csv(tmp_path / "own.csv", index=False)
    command = [sys.executable, "-m", "budgetprune", *FOREST, "own.csv", "--target", "ill", "--trees", "2000"]
    with subprocess.Popen(
        [*command, "--out", "m"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = ""
        while "growing" not in told:
            told += process.stderr.read(1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        told += process.stderr.read()
    assert process.returncode == 130
    assert told.splitlines()[-1] == "budgetprune: error: interrupted."
    assert "Traceback" not in told
    assert not (tmp_path / "m").exists()
