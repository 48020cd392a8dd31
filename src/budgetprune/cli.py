"""The command ``budgetprune``, which also runs as ``python -m budgetprune``."""

from __future__ import annotations

from budgetprune._commands._failures import needs_extra


def main() -> None:
    """Run the command line."""
    with needs_extra("cli", "typer"):
        from budgetprune._commands._app import app
    app(prog_name="budgetprune")
