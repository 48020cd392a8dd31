"""Options shared by several commands."""

from __future__ import annotations

import errno
import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from budgetprune.errors import InvalidInputError
from budgetprune.utils.files import check_writable, written_atomically
from budgetprune.utils.threads import available_cores
from budgetprune.workflow.tables.reading import MOST_COLUMNS as MOST_COLUMNS


class ModelKind(StrEnum):
    """Kind of model to train."""

    staged = "staged"
    random_forest = "random-forest"
    extra_trees = "extra-trees"
    lightgbm = "lightgbm"


class TaskKind(StrEnum):
    """Kind of prediction task."""

    classification = "classification"
    regression = "regression"


def _file(help_text: str, *, metavar: str) -> Any:
    return typer.Argument(help=help_text, exists=True, dir_okay=False, metavar=metavar, show_default=False)


def _file_option(name: str, help_text: str) -> Any:
    return typer.Option(name, help=help_text, exists=True, dir_okay=False, metavar="FILE", show_default=False)


ROWS = "Data file: .csv, .tsv, .parquet, or .svm (svmlight)."

Data = Annotated[Path, _file(ROWS, metavar="DATA")]
DataOption = Annotated[Path, _file_option("--data", ROWS)]
ModelFile = Annotated[Path, _file("Model file written by fit, prune or rebudget.", metavar="MODEL")]
Costs = Annotated[
    Path | None,
    _file_option(
        "--costs",
        "Price list: a CSV file with the columns feature and cost (see: budgetprune costs init). "
        "Without it, every column costs 1.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        min=0,
        show_default=False,
        help="Largest average cost of a prediction. Without it, the best model is taken at any cost.",
    ),
]
Model = Annotated[
    ModelKind,
    typer.Option(
        help="Kind of model. A staged model acquires columns by stage, stops each row when more are not "
        "worth their price, and serves every budget. The others are ensembles, pruned to one budget.",
    ),
]
ErrorCost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[CLASS=]NUMBER",
        show_default=False,
        help="Cost of a wrong prediction, in the unit of the prices. A row then acquires columns that are "
        "expected to save more than they cost, and no budget is needed. With CLASS=, for rows of that class; "
        "may be repeated. For regression, the cost of a unit of squared error. Staged models only.",
    ),
]
MaxCost = Annotated[float | None, typer.Option(min=0, show_default=False, help="Largest cost of one row.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        show_default=False,
        help="Approximate time for training. With less time, fewer candidates are tried. Staged models only.",
    ),
]
Trees = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default=False,
        help="Number of trees of a pruned model: 40 by default, 100 for lightgbm.",
    ),
]
MaxFeatures = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        max=1,
        show_default=False,
        help="Share of the columns considered at each split of a pruned model; 1 by default. Smaller values "
        "train faster, but the trees use more columns in total, which suits small budgets less.",
    ),
]
Validation = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=0.99,
        show_default=False,
        help="Share of the rows held out to measure costs and select a pruned model; 0.3 by default. A "
        "staged model is cross-fitted and needs none.",
    ),
]
Test = Annotated[
    Path | None,
    _file_option("--test", "Held-out test set for the final comparison."),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target", show_default=False, help="Column to predict; for svmlight files, label by default."
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        show_default=False,
        help="Treat a numeric column as categorical. May be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", show_default=False, help="Leave a column out. May be repeated."),
]
Task = Annotated[
    TaskKind | None,
    typer.Option(
        show_default=False,
        help="By default, strings, booleans and up to 20 distinct integers are classes.",
    ),
]
Decided = Annotated[
    bool,
    typer.Option(
        "--decided",
        help="For a pruned model: count only the cost acquired until each prediction is certain, so that the "
        "same budget allows a larger model.",
    ),
]
Slack = Annotated[
    float,
    typer.Option(min=0, max=0.5, help="With --decided: stop slightly before certainty (for example 0.2)."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0,
        show_default=False,
        help="With --decided, for regression: largest width of an interval that counts as certain.",
    ),
]
MaxColumns = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Most columns of an svmlight file; a larger index is an error."),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas/--no-escape-formulas",
        help="Put a single quote before text that a spreadsheet would run as a formula: text that begins "
        "with =, +, -, @, a tab or a line end and is not a number.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default=False,
        help="Number of cores; by default all, or fewer for lightgbm on few rows.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")]
OutTable = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", show_default=False, help="CSV file to write."),
]


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Raise if the output file cannot be written or is one of the inputs."""
    if out is None:
        return
    try:
        check_writable(out)
    except OSError as error:
        raise InvalidInputError(_why_not_writable(out, error)) from error
    for given in inputs:
        if given is not None and out.exists() and given.exists() and out.samefile(given):
            raise InvalidInputError(f"--out {out} would replace what is read from there; name another file.")


def _why_not_writable(out: Path, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{out} is a folder; name a file in it."
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {error.filename} to write {out.name} to; make it first."
    if error.errno == errno.ENAMETOOLONG:
        return f"the name of {out} is too long for the file system; name a file with a shorter name."
    # The name itself may be invalid: a closed descriptor, or a cycle of links.
    if error.errno in (errno.EBADF, errno.ELOOP) or (out.exists() and not out.is_file()):
        return f"nothing can be written to {out} ({error.strerror}); name another file."
    return f"nothing can be written to {out.parent} ({error.strerror}); name a file in another folder."


def check_shown(out: Path | None, *, quiet: bool, as_json: bool) -> None:
    """Raise if a command would produce no output."""
    if quiet and out is None and not as_json:
        raise InvalidInputError("--quiet leaves nothing to show; add --out or --json.")


def check_amount(value: float | None, option: str) -> None:
    """Raise if a number is not finite; Typer refuses negative ones."""
    if value is not None and not math.isfinite(value):
        raise InvalidInputError(f"{option} must be a number, not {value}; without it, there is no limit.")


def refuse_unused(model: ModelKind, given: Mapping[str, object]) -> None:
    """Raise if an option has no effect on this kind of model."""
    unused = [option for option, value in given.items() if value not in (None, False, 0.0, [])]
    if not unused:
        return
    names = ", ".join(unused)
    if model is ModelKind.staged:
        raise InvalidInputError(
            f"{names}: for models that are pruned, and --model is staged; leave it out, or add --model "
            "random-forest."
        )
    raise InvalidInputError(f"{names}: for staged models, and --model is {model.value}; leave it out.")


def write_csv(table: Any, out: Path) -> None:
    """Write a DataFrame atomically."""
    with written_atomically(out) as handle:
        table.to_csv(handle, index=False, encoding="utf-8")


def counting(decided: bool, slack: float, tolerance: float | None, *, is_classifier: bool) -> dict[str, Any]:
    """Return the cost options of `Wishes`; raise if an option has no effect."""
    if not 0 <= slack < 0.5:
        raise InvalidInputError(f"--slack must be at least 0 and below 0.5, not {slack}.")
    if not decided and (slack or tolerance is not None):
        raise InvalidInputError(
            "--slack and --tolerance are about predictions that stop early: add --decided."
        )
    if is_classifier and tolerance is not None:
        raise InvalidInputError("--tolerance is for regression; classes are certain or not.")
    if not is_classifier and slack and not tolerance:
        raise InvalidInputError("--slack needs a --tolerance, where numbers are predicted.")
    return {"counting": "decided" if decided else "full", "slack": slack, "tolerance": tolerance}


def cores(jobs: int | None) -> int:
    """Number of cores to use."""
    return available_cores() if jobs is None else jobs
