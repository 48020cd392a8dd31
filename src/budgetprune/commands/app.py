"""Typer application with all registered commands."""

from __future__ import annotations

from typing import Annotated

import typer

import budgetprune.commands.builtin  # noqa: F401  (registers the commands of this package)
from budgetprune.commands.registry import load_plugins, registered_commands, registered_groups
from budgetprune.utils.environment import __version__


def build_app() -> typer.Typer:
    """Return the application, with the commands that are registered now and those of plugins."""
    load_plugins()
    app = typer.Typer(
        name="budgetprune",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(budgetprune_options)
    groups = {
        name: typer.Typer(no_args_is_help=True, help=description)
        for name, description in registered_groups().items()
    }
    for name, group in groups.items():
        app.add_typer(group, name=name)
    for command in registered_commands():
        parent = app if command.group is None else groups[command.group]
        parent.command(command.name)(command.function)
    return app


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"budgetprune {__version__}")
        raise typer.Exit


def budgetprune_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tree ensembles for prediction within a budget of feature costs."""
