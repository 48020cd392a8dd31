"""How commands fail: one line on standard error and a status, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


def fail(message: str) -> NoReturn:
    """Say what is wrong, and end with status 1."""
    line = " ".join(message.split())
    print(f"budgetprune: error: {line}", file=sys.stderr)
    raise SystemExit(1)


@contextmanager
def needs_extra(extra: str, *packages: str) -> Iterator[None]:
    """Say what to install if an import of these packages fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        absent = (error.name or "").partition(".")[0]
        if absent not in packages:
            raise
        fail(f"{absent} is not installed; run: pip install 'budgetprune[{extra}]'")
