"""Registry of commands.

A command is a function that takes one dataclass of arguments; its docstring is the help text. Commands of
other packages call `register_command`, or are found through the entry point group ``budgetprune.commands``.
Modules in the group ``budgetprune.extensions`` are imported when the program starts, so that the importers,
losses, error estimates and solvers that they register can be used by the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from budgetprune.commands.signature import with_signature
from budgetprune.errors import InvalidInputError

ENTRY_POINTS = "budgetprune.commands"
EXTENSIONS = "budgetprune.extensions"


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
_PLUGINS: dict[str, str] = {}  # commands of entry points that were registered


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
    _PLUGINS.pop(name, None)
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
    """Import the extensions and register the commands of installed packages.

    One that cannot be loaded is reported and left out.
    """
    for entry in entry_points(group=EXTENSIONS):
        with _failure_reported("extension", entry):
            entry.load()
    for entry in entry_points(group=ENTRY_POINTS):
        if _PLUGINS.get(entry.name) != entry.value:
            with _failure_reported("command", entry):
                register_command(entry.load(), name=entry.name)
                _PLUGINS[entry.name] = entry.value


@contextmanager
def _failure_reported(kind: str, entry: EntryPoint) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # code of other packages may raise anything
        print(
            f"budgetprune: the {kind} {entry.name!r} ({entry.value}) cannot be loaded: "
            f"{type(error).__name__}: {error}",
            file=sys.stderr,
        )
