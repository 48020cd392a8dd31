"""The command ``budgetprune``, which also runs as ``python -m budgetprune``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from budgetprune.commands.failures import INTERRUPTED, errors_in_one_line, fail, needs_extra
from budgetprune.utils.threads import let_idle_threads_sleep


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        Arguments to use instead of ``sys.argv``.
    """
    let_idle_threads_sleep()
    with needs_extra("cli", "typer", "rich"):
        from budgetprune.commands.app import build_app
    with errors_in_one_line():
        status = build_app()(arguments, prog_name="budgetprune", standalone_mode=False)
    if status == INTERRUPTED:  # Typer prints no message
        fail("interrupted.", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)
