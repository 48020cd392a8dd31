"""Options that several commands have, each described once."""

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
    """What can be trained."""

    staged = "staged"
    random_forest = "random-forest"
    extra_trees = "extra-trees"
    lightgbm = "lightgbm"


class TaskKind(StrEnum):
    """What is predicted."""

    classification = "classification"
    regression = "regression"


def _file(help_text: str, *, metavar: str) -> Any:
    return typer.Argument(help=help_text, exists=True, dir_okay=False, metavar=metavar, show_default=False)


def _file_option(name: str, help_text: str) -> Any:
    return typer.Option(name, help=help_text, exists=True, dir_okay=False, metavar="FILE", show_default=False)


ROWS = "A file of rows: .csv, .tsv, .parquet, or .svm (svmlight)."

Data = Annotated[Path, _file(ROWS, metavar="DATA")]
DataOption = Annotated[Path, _file_option("--data", ROWS)]
ModelFile = Annotated[Path, _file("A file that fit, prune or rebudget wrote.", metavar="MODEL")]
Costs = Annotated[
    Path | None,
    _file_option(
        "--costs",
        "Price list, a CSV file with the columns feature and cost (see: budgetprune costs init). "
        "Without it, every column costs 1.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        min=0,
        show_default=False,
        help="What a prediction may cost on average. Without it, the best model is taken, whatever it costs.",
    ),
]
Model = Annotated[
    ModelKind,
    typer.Option(
        help="What is trained. A staged model buys columns stage by stage, stops each row when more is not "
        "worth its price, and serves every budget. The others are ensembles that are pruned to one budget.",
    ),
]
ErrorCost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[CLASS=]NUMBER",
        show_default=False,
        help="What a wrong answer costs, in the unit of the prices; a row then buys what is expected to save "
        "more than it costs, and no budget is needed. With CLASS=, for rows of that class; may be repeated. "
        "For regression, the price of a unit of squared error. Staged models only.",
    ),
]
MaxCost = Annotated[
    float | None, typer.Option(min=0, show_default=False, help="What one row may cost at most.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        show_default=False,
        help="Time for training, about. With less of it, fewer things are tried. Staged models only.",
    ),
]
Trees = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default=False,
        help="Number of trees of a model that is pruned: 40 by default, and 100 rounds of lightgbm.",
    ),
]
MaxFeatures = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        max=1,
        show_default=False,
        help="Share of the columns that each split of a model that is pruned may choose from; 1 by default. "
        "With less, trees are grown faster, and ask for more columns altogether, so that small budgets buy "
        "little.",
    ),
]
Validation = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=0.99,
        show_default=False,
        help="Share of the rows that counts costs and chooses for a model that is pruned, and trains "
        "nothing; 0.3 by default. A staged model needs none: it is cross-fitted.",
    ),
]
Test = Annotated[
    Path | None,
    _file_option("--test", "Rows that have no part in anything, to compare models on."),
]
TargetName = Annotated[
    str | None,
    typer.Option("--target", show_default=False, help="Column to predict; svmlight files have it: label."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        show_default=False,
        help="Takes a column for categories, though it looks like numbers. May be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", show_default=False, help="Leaves a column out. May be repeated."),
]
Task = Annotated[
    TaskKind | None,
    typer.Option(
        show_default=False,
        help="By default, text, truth values and up to 20 different whole numbers are classes.",
    ),
]
Decided = Annotated[
    bool,
    typer.Option(
        "--decided",
        help="For a model that is pruned: counts what is really acquired if each prediction stops once it is "
        "certain, so that the same budget buys a larger model.",
    ),
]
Slack = Annotated[
    float,
    typer.Option(min=0, max=0.5, help="With --decided: stop a little before certainty (0.2, say)."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0,
        show_default=False,
        help="With --decided, for regression: how wide an interval may be that counts as certain.",
    ),
]
MaxColumns = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Columns that an svmlight file may have; a larger index in it is refused."
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas/--no-escape-formulas",
        help="Puts a single quote before text that a spreadsheet would run as a formula: text that begins "
        "with =, +, -, @, a tab or a line end, and is no number.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is random.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default=False,
        help="Cores to use; by default all, and for lightgbm fewer if there are few rows.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Prints one JSON object, and nothing else, for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Prints only errors.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The model file to write.")]
OutTable = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", show_default=False, help="A CSV file to write."),
]


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Raise before any work starts if a file cannot be written, or would replace one that is read."""
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
    # What is wrong may be the name itself: a descriptor that is closed, links that lead in a circle.
    if error.errno in (errno.EBADF, errno.ELOOP) or (out.exists() and not out.is_file()):
        return f"nothing can be written to {out} ({error.strerror}); name another file."
    return f"nothing can be written to {out.parent} ({error.strerror}); name a file in another folder."


def check_shown(out: Path | None, *, quiet: bool, as_json: bool) -> None:
    """Raise if nobody would see what a command is going to compute."""
    if quiet and out is None and not as_json:
        raise InvalidInputError("--quiet leaves nothing to show; add --out or --json.")


def check_amount(value: float | None, option: str) -> None:
    """Raise if a number is not finite; Typer has refused negative ones."""
    if value is not None and not math.isfinite(value):
        raise InvalidInputError(f"{option} must be a number, not {value}; without it, there is no limit.")


def refuse_unused(model: ModelKind, given: Mapping[str, object]) -> None:
    """Raise if options were given that do nothing for this kind of model."""
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
    """Write a pandas table, all at once or not at all."""
    with written_atomically(out) as handle:
        table.to_csv(handle, index=False, encoding="utf-8")


def counting(decided: bool, slack: float, tolerance: float | None, *, is_classifier: bool) -> dict[str, Any]:
    """What is counted, as `Wishes` take it; options that do nothing are refused."""
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
    """How many cores to use."""
    return available_cores() if jobs is None else jobs
