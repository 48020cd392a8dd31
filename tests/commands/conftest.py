"""A folder of files that tests read and never change, and models that were made of them once."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from budgetprune import cli

from .commands import COSTS, FOREST, Run, patients, runner


@pytest.fixture
def run(capfd) -> Run:
    return runner(capfd)


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> SimpleNamespace:
    """``data``, ``test`` and ``costs``, and ``model``: a pruned forest for a budget of 13.5."""
    folder: Path = tmp_path_factory.mktemp("clinic")
    names = {name: folder / f"{name}.csv" for name in ("data", "test", "costs")}
    found = SimpleNamespace(folder=folder, model=folder / "ill.budgetprune", **names)
    patients(500, seed=0).drop(columns="risk").to_csv(found.data, index=False)
    patients(300, seed=1).drop(columns="risk").to_csv(found.test, index=False)
    found.costs.write_text(COSTS)
    words = [*FOREST, found.data, "--target", "ill", "--costs", found.costs, "--budget", 13.5, "--trees", 12]
    words += ["--test", found.test, "--out", found.model, "--json"]
    found.said, found.told = _said(words)
    return found


@pytest.fixture(scope="session")
def staged(files, tmp_path_factory) -> SimpleNamespace:
    """``model``: a staged model for a budget of 8, and ``told``: what fit told about it."""
    model = tmp_path_factory.mktemp("staged") / "ill.budgetprune"
    words = ["fit", files.data, "--target", "ill", "--costs", files.costs, "--budget", 8]
    said, _ = _said([*words, "--test", files.test, "--out", model, "--json"])
    return SimpleNamespace(model=model, told=json.loads(said), budget=8)


def _said(words: list[Any]) -> tuple[str, str]:
    """What a command prints to standard output and to standard error."""
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit) as end,
    ):
        cli.main(list(map(str, words)))
    assert end.value.code == 0, err.getvalue()
    return out.getvalue(), err.getvalue()
