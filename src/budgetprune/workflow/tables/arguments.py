"""Names of arguments in messages, for callers from Python and from the command line."""

from __future__ import annotations

import shlex
from typing import Any

# Arguments and options whose names on the command line are others; the rest only has dashes.
_FLAGS = {
    "counting": "--decided",
    "error_costs": "--error-cost",
    "n_jobs": "--jobs",
    "n_trees": "--trees",
    "random_state": "--seed",
    "validation_fraction": "--validation",
}


def flag(name: str) -> str:
    """Return the name of an argument on the command line."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def argument(name: str) -> str:
    """Return both names of an argument: ``max_cost (--max-cost)``."""
    return f"{name} ({flag(name)})"


def setting(name: str, value: Any) -> str:
    """Return an argument with a value in both forms, as advice: ``drop=['age'] (--drop age)``."""
    if value is True or name == "counting":
        return f"{name}={value!r} ({flag(name)})"
    values = value if isinstance(value, list) else [value]
    written = " ".join(shlex.quote(str(each)) for each in values)
    return f"{name}={value!r} ({flag(name)} {written})"
