"""Signature of a command for Typer, made from its dataclass of arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from budgetprune.errors import InvalidInputError


def with_signature(function: Callable[[Any], None]) -> Callable[..., None]:
    """Return a function with one parameter per field of the dataclass that `function` takes.

    Parameters
    ----------
    function : callable
        Takes one dataclass whose fields are annotated as Typer expects it:
        ``Annotated[type, typer.Option(...)]`` or ``typer.Argument(...)``. The order of the fields is the
        order of the options in the help.
    """
    parameters = list(inspect.signature(function).parameters)
    hints = get_type_hints(function)
    arguments = hints.get(parameters[0]) if len(parameters) == 1 else None
    if not is_dataclass(arguments) or not isinstance(arguments, type):
        raise InvalidInputError(
            f"the command {function.__name__!r} must take one parameter that is annotated with a dataclass."
        )
    annotations = get_type_hints(arguments, include_extras=True)

    @wraps(function)
    def run(**values: Any) -> None:
        function(arguments(**values))

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter(field, annotations[field.name]) for field in fields(arguments)]
    )
    run.__annotations__ = {field.name: annotations[field.name] for field in fields(arguments)}
    return run


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(field.name, kind, default=default, annotation=annotation)
