"""``budgetprune reproduce``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from budgetprune.commands import options as shared
from budgetprune.commands.failures import INTERRUPTED, fail, fail_unexpected, needs_extra
from budgetprune.errors import BudgetPruneError, InvalidInputError

GROUP = "budgetprune.experiments"


def load_experiments() -> Any:
    """Import the experiments package, which a checkout installs and the wheel does not."""
    for entry in entry_points(group=GROUP):
        try:
            return import_module(entry.module)
        except ModuleNotFoundError as error:
            if error.name != entry.module.partition(".")[0]:
                raise
    raise BudgetPruneError(
        "the experiments are not installed, since the wheel does not contain them; clone the repository and "
        "run in it: pip install --editable '.[reproduce]'"
    )


def _show_names(is_wanted: bool) -> None:
    if is_wanted:
        experiments = load_experiments()
        width = max(map(len, experiments.NAMES))
        for name in experiments.NAMES:
            typer.echo(f"{name:{width}}  {experiments.find_experiment(name).title}")
        raise typer.Exit


def _print_progress(line: str) -> None:
    typer.echo(f"budgetprune: {line}", err=True)


@dataclass(frozen=True)
class ReproduceArguments:
    """Arguments and options of ``budgetprune reproduce``."""

    name: Annotated[
        str, typer.Argument(help="Name of an experiment; --list shows all names.", show_default=False)
    ]
    repeats: Annotated[int, typer.Option(min=1, help="Number of seeds; the paper uses 10.")] = 3
    quick: Annotated[bool, typer.Option("--quick", help="Smoke test on tiny data; takes seconds.")] = False
    paper: Annotated[bool, typer.Option("--paper", help="Full grids, no time limit.")] = False
    out: Annotated[Path, typer.Option(help="Parent folder of the results folder NAME.")] = Path("output")
    data_dir: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="Folder with data sets; else BUDGETPRUNE_DATA, the cache, or the public source.",
        ),
    ] = None
    jobs: Annotated[int, typer.Option(min=1, help="Number of cores.")] = 2
    listing: Annotated[
        bool,
        typer.Option("--list", callback=_show_names, is_eager=True, help="List the experiments."),
    ] = False
    as_json: shared.Json = False
    quiet: shared.Quiet = False


def reproduce(arguments: ReproduceArguments) -> None:
    """Reproduce an experiment of the paper: results as JSON, a table, and a figure.

    Finished parts are kept: run the same command again to resume after an interruption.

    Example: budgetprune reproduce table1 --quick
    """
    with needs_extra("reproduce", "matplotlib", "lightgbm", "skimage"):
        import matplotlib  # noqa: F401

        experiments = load_experiments()
        runner = import_module(f"{experiments.__name__}.runner")
        tables = import_module(f"{experiments.__name__}.tables")
        try:
            options = experiments.Options(
                repeats=arguments.repeats,
                quick=arguments.quick,
                paper=arguments.paper,
                out=arguments.out,
                data_dir=arguments.data_dir,
                jobs=arguments.jobs,
            )
            experiment = experiments.find_experiment(arguments.name)
        except InvalidInputError as error:
            raise typer.BadParameter(str(error)) from error
    again = "what is finished is kept: the same command goes on from there."
    try:
        outcome = runner.reproduce(experiment, options, tell=None if arguments.quiet else _print_progress)
    except KeyboardInterrupt:
        fail(f"interrupted; {again}", INTERRUPTED)
    except runner.PartError as error:
        if not isinstance(error.__cause__, BudgetPruneError | OSError | ImportError):
            fail_unexpected(error.__cause__, f"{error}; {again}")
        fail(f"{error}; {again}")
    except (BudgetPruneError, OSError, ImportError) as error:
        fail(str(error))
    if arguments.as_json:
        typer.echo(json.dumps(json.loads(outcome.files[0].read_text(encoding="utf-8"))))
    if arguments.as_json or arguments.quiet:
        return
    substitute = experiment.substitute(options)
    for text in ([f"Substitute: {substitute}"] if substitute else []) + [
        tables.as_text(each) for each in outcome.tables
    ]:
        typer.echo(f"\n{text}")
    typer.echo("\nWritten: " + ", ".join(map(str, outcome.files)))
