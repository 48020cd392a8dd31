"""``budgetprune reproduce`` without the package of experiments, which is no part of the wheel."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from budgetprune.commands import reproduce as command

from .commands import check_refused

MISSING_MODULE = EntryPoint("paper", "no_such_experiments:find_experiment", command.GROUP)


@pytest.mark.parametrize("entries", [[], [MISSING_MODULE]], ids=["no entry point", "no module"])
@pytest.mark.parametrize("words", [["table1"], ["--list"]])
def test_absent_experiments_are_an_error(run, monkeypatch, entries, words):
    monkeypatch.setattr(command, "entry_points", lambda **_group: entries)
    check_refused(run("reproduce", *words), "experiments are not installed.* pip install --editable", 1)


def test_help_needs_no_experiments(run, monkeypatch):
    monkeypatch.setattr(command, "entry_points", lambda **_group: [])
    assert run("reproduce", "--help").status == 0
