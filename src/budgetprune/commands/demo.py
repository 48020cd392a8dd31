"""``budgetprune demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands.failures import FAILED


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("output"),
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, show_default=False, help="Average cost of a prediction, in minutes; 3 by default."
        ),
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Fit a staged model on data that comes with scikit-learn: several budgets, beside two forests.

    A table has cost and errors of the staged model, of a pruned forest and of the full one; a picture shows
    the curves.

    The rows and prices are written as CSV files, too, to try the other commands with.

    Example: budgetprune demo --budget 4
    """
    import matplotlib  # noqa: F401  (if it is absent, that is said before any work starts)

    from budgetprune.demo import main

    words = ["--out", str(out), "--seed", str(seed)]
    try:
        main(words if budget is None else [*words, "--budget", str(budget)])
    except SystemExit as end:  # the message is there already
        raise typer.Exit(FAILED) from end
