"""A command that is registered from outside the package."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated

import pytest
import typer

from budgetprune import BudgetModel, InvalidInputError, cli
from budgetprune.commands import register_command, registry, unregister_command

COMMANDS, EXTENSIONS = "budgetprune.commands", "budgetprune.extensions"
MODEL = Path(__file__).parents[1] / "golden" / "with_path-2.budgetprune"


# --8<-- [start:example]
@dataclass(frozen=True)
class TreesArguments:
    """Arguments and options of ``budgetprune trees``."""

    model: Annotated[Path, typer.Argument(exists=True, help="Model file.")]
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False


def trees(arguments: TreesArguments) -> None:
    """Show the number of trees of a model.

    Example: budgetprune trees ill.budgetprune
    """
    n_trees = BudgetModel.load(arguments.model).predictor.forest.n_trees
    typer.echo(f'{{"trees": {n_trees}}}' if arguments.as_json else f"{n_trees} trees")


# --8<-- [end:example]


@pytest.fixture
def registered():
    register_command(trees)
    yield
    unregister_command("trees")


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        cli.main([str(word) for word in words])
    return end.value.code, *capsys.readouterr()


@pytest.mark.usefixtures("registered")
def test_it_runs_with_its_options(capsys):
    n_trees = BudgetModel.load(MODEL).predictor.forest.n_trees
    assert run(capsys, "trees", MODEL) == (0, f"{n_trees} trees\n", "")
    status, out, _ = run(capsys, "trees", MODEL, "--json")
    assert (status, json.loads(out)) == (0, {"trees": n_trees})


@pytest.mark.usefixtures("registered")
def test_help_shows_its_docstring_and_options(capsys):
    assert "Show the number of trees of a model." in run(capsys, "--help")[1]
    status, out, _ = run(capsys, "trees", "--help")
    assert status == 0
    assert "Example: budgetprune trees" in out
    assert "Print one JSON object." in out


@pytest.mark.usefixtures("registered")
def test_errors_are_one_line(capsys):
    status, out, err = run(capsys, "trees", MODEL.parent / "nowhere")
    assert (status, out) == (2, "")
    assert err.startswith("budgetprune: error: ")
    assert err.count("\n") == 1


@pytest.mark.usefixtures("registered")
def test_names_are_unique():
    with pytest.raises(InvalidInputError, match="a command 'trees' is registered already"):
        register_command(trees)
    with pytest.raises(InvalidInputError, match="there is no group of commands 'forests'"):
        register_command(trees, group="forests")


def test_without_registration_it_is_unknown(capsys):
    status, _, err = run(capsys, "trees", MODEL)
    assert status == 2
    assert "No such command 'trees'" in err
    with pytest.raises(InvalidInputError, match="no command 'trees' is registered"):
        unregister_command("trees")


def test_a_function_that_takes_no_dataclass_is_refused():
    def trees(n_trees: int) -> None:
        """Do nothing."""

    with pytest.raises(InvalidInputError, match="one parameter that is annotated with a dataclass"):
        register_command(trees)


def test_entry_points_are_found(capsys, monkeypatch):
    entries = [
        EntryPoint("count-trees", f"{__name__}:trees", COMMANDS),
        EntryPoint("broken", "no_such_package:run", COMMANDS),
    ]
    loaded = {"count-trees": trees}

    def load(entry):
        return loaded[entry.name] if entry.name in loaded else __import__("no_such_package")

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == COMMANDS else [])
    try:
        status, out, err = run(capsys, "count-trees", MODEL)
        assert status == 0
        assert out.endswith(" trees\n")
        assert err.startswith("budgetprune: the command 'broken' (no_such_package:run) cannot be loaded")
    finally:
        unregister_command("count-trees")


def test_modules_of_extensions_are_imported(capsys, monkeypatch):
    entries = [
        EntryPoint("mine", "my_package", EXTENSIONS),
        EntryPoint("broken", "no_such_package", EXTENSIONS),
    ]
    loaded = []

    def load(entry):
        if entry.name == "broken":
            raise ImportError("no module named no_such_package")
        loaded.append(entry.name)

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == EXTENSIONS else [])
    status, _, err = run(capsys, "--version")
    assert (status, loaded) == (0, ["mine"])
    assert err.startswith("budgetprune: the extension 'broken' (no_such_package) cannot be loaded")


def test_a_command_of_another_package_cannot_replace_one_of_this_package(capsys, monkeypatch):
    entry = EntryPoint("fit", f"{__name__}:trees", COMMANDS)
    monkeypatch.setattr(EntryPoint, "load", lambda entry: trees)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == COMMANDS else [])
    status, _, err = run(capsys, "--version")
    assert status == 0
    assert "the command 'fit'" in err
    assert "is registered already" in err
