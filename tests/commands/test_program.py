"""The program itself, in processes of its own: help, a whole story, and ends without a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from budgetprune import cli

from .commands import COSTS, FOREST, check_refused, patients

COMMANDS = (
    "fit",
    "rebudget",
    "prune",
    "predict",
    "path",
    "inspect",
    "report",
    "costs init",
    "demo",
    "serve",
    "reproduce",
)


def budgetprune(*words, cwd):
    """Run the program in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "budgetprune", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_WAIT_POLICY": "passive", "COLUMNS": "200"},
    )


def test_from_a_table_to_predictions(tmp_path):
    patients(400).drop(columns="risk").to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "costs.csv").write_text(COSTS)
    words = [
        "--target",
        "ill",
        "--costs",
        "costs.csv",
        "--budget",
        14,
        "--trees",
        5,
        "--out",
        "ill.budgetprune",
    ]
    made = budgetprune(*FOREST, "data.csv", *words, cwd=tmp_path)
    assert (made.returncode, made.stderr.count("Traceback")) == (0, 0), made.stderr
    assert "your model" in made.stdout
    predicted = budgetprune("predict", "ill.budgetprune", "data.csv", cwd=tmp_path)
    assert predicted.returncode == 0
    assert predicted.stdout.startswith("label,probability,cost,decided,features_used\n")
    assert predicted.stdout.count("\n") == 401
    assert "predicting 400 rows" in predicted.stderr


def test_a_refusal(tmp_path):
    patients(50).to_csv(tmp_path / "data.csv", index=False)
    refused = budgetprune("fit", "data.csv", "--target", "il", "--out", "m", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == ""
    first, second = refused.stderr.splitlines()
    assert first.startswith("reading data.csv")
    assert second.startswith(
        "budgetprune: error: the target 'il' is not a column of data.csv; did you mean 'ill'?"
    )


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


# --- In this process ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    said = run(*command.split(), "--help")
    assert said.status == 0
    assert f"Example: budgetprune {command}" in " ".join(said.out.split())


def test_the_help_lists_all_commands(run):
    said = run("--help")
    for command in COMMANDS:
        assert command.split()[0] in said.out
    bare = run()
    assert bare.status == 2
    assert "budgetprune: error: a command is needed" in bare.err


def test_json_is_all_there_is(files, run):
    for command in (["inspect", files.model], ["path", files.model], ["predict", files.model, files.test]):
        said = run(*command, "--json", "--quiet")
        assert isinstance(json.loads(said.out), dict)
        assert said.err == ""


def test_the_demo(run, tmp_path, monkeypatch):
    from budgetprune import demo

    asked = []
    monkeypatch.setattr(demo, "main", lambda words: asked.append(words) or 0)
    assert run("demo", "--out", tmp_path, "--budget", 4).status == 0
    assert asked == [["--out", str(tmp_path), "--seed", "0", "--budget", "4.0"]]
    check_refused(run("demo", "--budget", -1), "budget")
    monkeypatch.setattr(demo, "main", lambda words: sys.exit(2))
    assert run("demo").status == 1


def test_arguments_may_come_from_the_program(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["budgetprune", "--version"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("budgetprune ")
