"""Registry of commands.

A command is a function that takes one dataclass of arguments; its docstring is the help text. Commands of
other packages call `register_command`, or are found through the entry point group ``budgetprune.commands``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from budgetprune.commands.signature import with_signature
from budgetprune.errors import InvalidInputError

ENTRY_POINTS = "budgetprune.commands"


@dataclass(frozen=True)
class Command:
    """A registered command.

    Attributes
    ----------
    name : str
    function : callable
        With the signature that Typer reads.
    group : str or None
        ``"costs"`` for ``budgetprune costs NAME``.
    """

    name: str
    function: Callable[..., None]
    group: str | None = None


_COMMANDS: dict[tuple[str | None, str], Command] = {}
_GROUPS: dict[str, str] = {}


def register_command(
    function: Callable[[Any], None], *, name: str | None = None, group: str | None = None
) -> None:
    """Add a command to ``budgetprune``.

    Parameters
    ----------
    function : callable
        Takes one dataclass whose fields are annotated with Typer options and arguments. The docstring is the
        help text.
    name : str, optional
        By default the name of the function, with hyphens.
    group : str, optional
        A group added with `register_group`.
    """
    name = name or function.__name__.replace("_", "-")
    if group is not None and group not in _GROUPS:
        raise InvalidInputError(f"there is no group of commands {group!r}; call register_group first.")
    if (group, name) in _COMMANDS:
        raise InvalidInputError(f"a command {name!r} is registered already; choose another name.")
    _COMMANDS[group, name] = Command(name, with_signature(function), group)


def unregister_command(name: str, *, group: str | None = None) -> None:
    """Remove a command."""
    if _COMMANDS.pop((group, name), None) is None:
        raise InvalidInputError(f"no command {name!r} is registered.")


def register_group(name: str, description: str) -> None:
    """Add a group of commands: ``budgetprune GROUP COMMAND``."""
    _GROUPS[name] = description


def registered_commands() -> tuple[Command, ...]:
    """Return all commands in the order of registration."""
    return tuple(_COMMANDS.values())


def registered_groups() -> dict[str, str]:
    """Return the groups of commands and their descriptions."""
    return dict(_GROUPS)


def load_plugins() -> None:
    """Register the commands of installed packages; one that cannot be loaded is reported and left out."""
    for entry in entry_points(group=ENTRY_POINTS):
        if (None, entry.name) in _COMMANDS:
            continue
        try:
            register_command(entry.load(), name=entry.name)
        except Exception as error:  # code of other packages may raise anything
            print(
                f"budgetprune: the command {entry.name!r} ({entry.value}) cannot be loaded: "
                f"{type(error).__name__}: {error}",
                file=sys.stderr,
            )
