"""``budgetprune demo``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands.failures import FAILED


@dataclass(frozen=True)
class DemoArguments:
    """Options of ``budgetprune demo``."""

    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("output")
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, show_default=False, help="Average cost of a prediction, in minutes; 3 by default."
        ),
    ] = None
    seed: options.Seed = 0


def demo(arguments: DemoArguments) -> None:
    """Fit a staged model on a scikit-learn data set and compare it with two forests.

    A table shows cost and error of the staged model, a pruned forest and the full forest at several budgets;
    a figure shows the curves.

    Rows and prices are also written as CSV files for use with the other commands.

    Example: budgetprune demo --budget 4
    """
    import matplotlib  # noqa: F401  (fails before any work starts if absent)

    from budgetprune.demo import main

    words = ["--out", str(arguments.out), "--seed", str(arguments.seed)]
    try:
        main(words if arguments.budget is None else [*words, "--budget", str(arguments.budget)])
    except SystemExit as end:  # the message is printed already
        raise typer.Exit(FAILED) from end
