"""Errors of commands: one line on standard error and an exit status, no traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import NoReturn

from budgetprune.errors import BudgetPruneError, InvalidInputError, UnsupportedModelError

# Exit statuses: runtime failure, invalid input, Ctrl-C.
FAILED, WRONG, INTERRUPTED = 1, 2, 130

# Optional packages, and the extra that installs each.
EXTRAS = {
    "pandas": "cli",
    "pyarrow": "cli",
    "rich": "cli",
    "matplotlib": "plot",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "onnx": "onnx",
    "ydf": "ydf",
    "skops": "skops",
    "python_calamine": "excel",
    "duckdb": "duckdb",
}


def fail(message: str, status: int = FAILED) -> NoReturn:
    """Print an error message and exit with a status."""
    line = " ".join(message.split())
    print(f"budgetprune: error: {line}", file=sys.stderr)
    raise SystemExit(status)


@contextmanager
def needs_extra(extra: str, *packages: str) -> Iterator[None]:
    """Name the extra to install if an import of these packages fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        absent = (error.name or "").partition(".")[0]
        if absent not in packages:
            raise
        _fail_without(absent, extra)


def check_installed(extra: str, *packages: str) -> None:
    """Name the extra to install unless these packages are installed. Nothing is imported."""
    for package in packages:
        if find_spec(package) is None:
            _fail_without(package, extra)


def _fail_without(package: str, extra: str) -> NoReturn:
    fail(f"{package} is not installed; run: pip install 'budgetprune[{extra}]'")


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn any exception raised inside into one line and an exit status."""
    try:
        yield
    except (InvalidInputError, UnsupportedModelError) as error:
        fail(str(error), WRONG)
    except (BudgetPruneError, OSError) as error:
        fail(str(error))
    except MemoryError as error:
        fail(f"there is not enough memory ({error}); take fewer rows or fewer trees.")
    except KeyboardInterrupt:
        fail("interrupted.", INTERRUPTED)
    except Exception as error:
        absent = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if absent in EXTRAS:
            _fail_without(absent, EXTRAS[absent])
        if hasattr(error, "format_message"):  # usage errors; their class differs between Typer versions
            fail(_usage(error), WRONG)
        fail_unexpected(error, f"{type(error).__name__}: {error}")


def fail_unexpected(error: BaseException | None, message: str) -> NoReturn:
    """Report an unexpected error; the traceback needs BUDGETPRUNE_TRACEBACK."""
    if os.environ.get("BUDGETPRUNE_TRACEBACK"):
        traceback.print_exception(error)
    fail(
        f"{message} (unexpected error; please report it, with the traceback that BUDGETPRUNE_TRACEBACK=1 in "
        "the environment adds)"
    )


def _usage(error: Exception) -> str:
    if type(error).__name__ == "NoArgsIsHelpError":  # the help was shown already
        return "a command is needed."
    context = getattr(error, "ctx", None)
    path = "budgetprune" if context is None else context.command_path
    message = str(error.format_message()).rstrip(". ")  # type: ignore[attr-defined]
    return f"{message}; see: {path} --help"
