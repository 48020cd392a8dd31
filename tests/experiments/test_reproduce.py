"""The command ``budgetprune reproduce``, and every experiment in small."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from budgetprune import cli
from budgetprune.errors import InvalidInputError
from budgetprune_experiments import NAMES, Options, find_experiment, register
from budgetprune_experiments.runner import reproduce

from .toys import Toy


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_in_small(tmp_path, name, monkeypatch):
    monkeypatch.delenv("BUDGETPRUNE_DATA", raising=False)
    experiment = find_experiment(name)
    assert experiment.name == name
    options = Options(quick=True, repeats=1, out=tmp_path, data_dir=tmp_path, jobs=1)
    outcome = reproduce(experiment, options)
    result = json.loads((tmp_path / name / "result.json").read_text())
    assert result["quick"]
    assert result["records"]
    assert result["seeds"] == [0]
    assert outcome.tables
    for table in outcome.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    monkeypatch.setattr(Figure, "savefig", lambda figure, *words, **settings: None)  # drawn once is enough
    again = reproduce(experiment, options)
    assert again.tables == outcome.tables


def run(monkeypatch, capfd, *words, toy=None):
    """Call `main` as the console script does, with a toy instead of table1."""
    if toy is not None:
        import budgetprune_experiments

        monkeypatch.setattr(budgetprune_experiments, "find_experiment", lambda name: toy)
    monkeypatch.setattr(sys, "argv", ["budgetprune", "reproduce", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capfd.readouterr()
    return end.value.code, said.out, said.err


def test_tables_and_files_are_told(monkeypatch, capfd, tmp_path):
    status, out, err = run(monkeypatch, capfd, "table1", "--repeats", 1, "--out", tmp_path, toy=Toy())
    assert status == 0
    assert "Substitute: air" in out
    assert re.search(r"method +seed +third\n.*\na +0 +0\n", out)
    assert str(tmp_path / "toy" / "result.json") in out
    assert "3/3" in err  # the progress bar
    assert "kept from an earlier run" not in err
    status, _, err = run(monkeypatch, capfd, "table1", "--repeats", 2, "--out", tmp_path, toy=Toy())
    assert status == 0
    assert "3 of 6 parts are kept from an earlier run" in err


def test_for_scripts(monkeypatch, capfd, tmp_path):
    words = ["table1", "--repeats", 1, "--out", tmp_path]
    assert run(monkeypatch, capfd, *words, "--quiet", toy=Toy()) == (0, "", "")
    status, out, err = run(monkeypatch, capfd, *words, "--quiet", "--json", toy=Toy())
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((tmp_path / "toy" / "result.json").read_text())


def test_a_part_that_fails(monkeypatch, capfd, tmp_path):
    for error, has_trace in ((InvalidInputError("no rows"), False), (ZeroDivisionError("oops"), True)):
        toy = Toy("seed 0, b", error)
        if has_trace:
            monkeypatch.setenv("BUDGETPRUNE_TRACEBACK", "1")
        status, out, err = run(monkeypatch, capfd, "table1", "--out", tmp_path / str(has_trace), toy=toy)
        assert status == 1
        assert out == ""
        assert (
            f"error: part 'seed 0, b' failed: {type(error).__name__}: {error}; what is finished is kept"
            in err
        )
        assert ("Traceback" in err) == has_trace  # only of unexpected errors
        assert ("unexpected error; please report it" in err) == has_trace
        assert toy.calls == ["seed 0, a", "seed 0, b"]


def test_an_interruption(monkeypatch, capfd, tmp_path):
    status, _, err = run(
        monkeypatch, capfd, "table1", "--out", tmp_path, toy=Toy("seed 0, c", KeyboardInterrupt())
    )
    assert status == 130
    assert "interrupted; what is finished is kept" in err
    again = Toy()
    assert run(monkeypatch, capfd, "table1", "--repeats", 1, "--out", tmp_path, toy=again)[0] == 0
    assert again.calls == ["seed 0, c"]


def test_a_folder_that_cannot_be_written(monkeypatch, capfd, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = run(monkeypatch, capfd, "table1", "--out", tmp_path / "file", toy=Toy())
    assert status == 1
    assert re.match(r"budgetprune: error: .*file", err)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "There is no experiment 'nothing'; the names are table1, figure1a"),
        (["table1", "--quick", "--paper"], "quick and paper exclude each other"),
        (["table1", "--repeats", "0"], "--repeats"),
        (["table1", "--jobs", "0"], "--jobs"),
        ([], "Missing argument"),
    ],
)
def test_usage(monkeypatch, capfd, words, message):
    status, out, err = run(monkeypatch, capfd, *words)
    assert status == 2
    assert out == ""
    assert message in re.sub(r"[\s│]+", " ", err)


def test_names_are_listed(monkeypatch, capfd):
    status, out, _ = run(monkeypatch, capfd, "--list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(NAMES)
    assert "Table 1: how often" in out


def test_matplotlib_is_missing(monkeypatch, capfd, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = run(monkeypatch, capfd, "table1", "--out", tmp_path)
    assert status == 1
    assert "matplotlib is not installed; run: pip install 'budgetprune[reproduce]'" in err


def test_names_are_unique():
    find_experiment("table1")
    twin = Toy()
    twin.name = "table1"
    with pytest.raises(InvalidInputError, match="There is an experiment 'table1' already"):
        register(twin)


def test_the_command_in_a_process_of_its_own(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "BUDGETPRUNE_DATA"}
    command = [sys.executable, "-m", "budgetprune", "reproduce", "table1", "--quick", "--repeats", "1"]
    done = subprocess.run(
        [*command, "--out", "results", "--jobs", "1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "A typical feature" in done.stdout
    assert (tmp_path / "results" / "table1" / "figure.png").exists()


def test_scikit_image_is_missing(monkeypatch, capfd, tmp_path):
    monkeypatch.setitem(sys.modules, "skimage", None)
    words = ["budgetprune", "reproduce", "figure1d", "--quick", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "descriptors need scikit-image: pip install 'budgetprune[reproduce]'" in capfd.readouterr().err
