"""Imports of optional packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def optional_import(what: str, extra: str) -> Iterator[None]:
    """Name the extra to install if an import inside fails.

    Parameters
    ----------
    what : what needs the package, in the plural
    extra : extra of this package that installs it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ModuleNotFoundError(
            f"{what} need {package}: pip install 'budgetprune[{extra}]'", name=error.name
        ) from error
