"""``budgetprune prune``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError


@dataclass(frozen=True)
class PruneArguments:
    """Arguments and options of ``budgetprune prune``."""

    model: Annotated[
        Path,
        typer.Argument(
            exists=True,
            metavar="MODEL",
            show_default=False,
            help="A fitted model: .skops, .joblib or .pkl (scikit-learn), .txt (LightGBM), .json or .ubj "
            "(XGBoost), .cbm (CatBoost), .onnx, .ydf or a folder (Yggdrasil).",
        ),
    ]
    data: options.DataOption
    out: options.Out
    target: options.TargetName = None
    costs: options.Costs = None
    budget: options.Budget = None
    test: options.Test = None
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Load .joblib and .pkl files. Loading a pickle can run arbitrary code with your "
            "permissions, so use this only for files whose author you trust; .skops files do not need it. "
            "Other files are loaded without the check in a process with limited time and memory.",
        ),
    ] = False
    needs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP=NEEDS",
            show_default=False,
            help="What outputs of a step of a pipeline need, if it cannot be traced: STEP=all (all inputs "
            "of the step) or STEP=one-to-one (the input at the same position). May be repeated.",
        ),
    ] = None
    decided: options.Decided = False
    slack: options.Slack = 0.0
    tolerance: options.Tolerance = None
    scoring: options.Scoring = None
    class_weight: options.ClassWeight = None
    threshold: options.Threshold = None
    qid: options.Queries = None
    unit: options.Unit = ""
    drop: options.Drop = None
    max_columns: options.MaxColumns = options.MOST_COLUMNS
    sheet: options.Sheet = None
    test_sheet: options.TestSheet = None
    seed: options.Seed = 0
    jobs: options.Jobs = None
    as_json: options.Json = False
    quiet: options.Quiet = False


def prune(arguments: PruneArguments) -> None:
    """Prune a fitted model to the best one within a budget.

    The model may be a pipeline of scikit-learn with a preprocessing: costs are then those of raw columns.
    Costs are measured on the rows of --data, which also select the model. Do not use training rows. Columns
    are matched to the training columns by name, or by position if the model has no feature names.

    Example: budgetprune prune forest.skops --data held_out.csv --target ill --costs costs.csv --budget 10
    --out ill.budgetprune
    """
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=arguments.out)
    check_out(arguments.out, arguments.model, arguments.data, arguments.costs, arguments.test)
    from budgetprune.commands.comparison import show_fitted
    from budgetprune.workflow import PruneOptions, prune_model

    model = prune_model(
        arguments.model,
        arguments.data,
        arguments.target,
        arguments.costs,
        budget=arguments.budget,
        test=arguments.test,
        options=PruneOptions(
            trust=arguments.trust, needs=_needs(arguments.needs), **options.common_options(arguments)
        ),
        observer=console,
    )
    with console.stage(f"writing {arguments.out}"):
        model.save(arguments.out)
    show_fitted(console, model, arguments.out)


def _needs(values: list[str] | None) -> dict[str, str] | None:
    """Parse STEP=NEEDS."""
    pairs = [value.partition("=") for value in values or ()]
    for step, equals, said in pairs:
        if not (step and equals) or said not in ("all", "one-to-one"):
            raise InvalidInputError(
                f"--needs {step}{equals}{said} must be STEP=all or STEP=one-to-one; for a list of the "
                "inputs of each output, use prune_model in Python."
            )
    return {step: said for step, _, said in pairs} or None
