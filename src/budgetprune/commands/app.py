"""Typer application with all commands of ``budgetprune``."""

from __future__ import annotations

from typing import Annotated

import typer

from budgetprune.commands.costs import costs
from budgetprune.commands.demo import demo
from budgetprune.commands.fit import fit
from budgetprune.commands.inspect import inspect
from budgetprune.commands.path import path
from budgetprune.commands.predict import predict
from budgetprune.commands.prune import prune
from budgetprune.commands.rebudget import rebudget
from budgetprune.commands.report import report
from budgetprune.commands.reproduce import reproduce
from budgetprune.commands.serve import serve
from budgetprune.utils.environment import VERSION

app = typer.Typer(
    name="budgetprune",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(costs, name="costs")
for command in (fit, rebudget, prune, predict, path, inspect, report, serve, demo, reproduce):
    app.command()(command)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"budgetprune {VERSION}")
        raise typer.Exit


@app.callback()
def budgetprune(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tree ensembles for prediction within a budget of feature costs."""
