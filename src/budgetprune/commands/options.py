"""Options shared by several commands."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from budgetprune.commands.class_weights import parse_class_weight
from budgetprune.workflow import MOST_COLUMNS as MOST_COLUMNS


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


ROWS = "Data file: .csv, .tsv, .parquet, .svm (svmlight), .xlsx (Excel) or .duckdb."

Data = Annotated[Path, _file(ROWS, metavar="DATA")]
DataOption = Annotated[Path, _file_option("--data", ROWS)]
ModelFile = Annotated[Path, _file("Model file written by fit, prune or rebudget.", metavar="MODEL")]
Costs = Annotated[
    Path | None,
    _file_option(
        "--costs",
        "Price list: a CSV or Excel file with the columns feature and cost (see: budgetprune costs init). "
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
Scoring = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Scorer of scikit-learn that chooses the model, such as roc_auc, neg_log_loss, f1 or "
        "neg_mean_absolute_error. By default accuracy, R², or NDCG with --qid.",
    ),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="balanced|CLASS=WEIGHT",
        show_default=False,
        help="Weights of classes in training and in the default score: balanced, or a weight for a class (1 "
        "for the others). May be repeated.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        show_default=False,
        help="For two classes: smallest probability at which the second one, in sorted order, is predicted.",
    ),
]
Queries = Annotated[
    str | None,
    typer.Option(
        "--qid",
        metavar="COLUMN",
        show_default=False,
        help="Column with the query of each row, for ranking: the target is the relevance of a row, and the "
        "score is NDCG@10, averaged over queries. For svmlight files: qid.",
    ),
]
Unit = Annotated[
    str, typer.Option(show_default=False, help="Unit of the prices, such as EUR or min; kept with the model.")
]
MaxColumns = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Maximum number of columns of an svmlight file; a larger index is an error."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Sheet of an Excel file, or table of a DuckDB file; needed if the file has several.",
    ),
]
TestSheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="The same for the file of --test."),
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


def common_options(arguments: Any) -> dict[str, Any]:
    """Return the fields of `CommonOptions`, given the arguments of ``fit`` or ``prune``."""
    return {
        "drop": arguments.drop or (),
        "max_columns": arguments.max_columns,
        "sheet": arguments.sheet,
        "test_sheet": arguments.test_sheet,
        "counting": "decided" if arguments.decided else "full",
        "slack": arguments.slack,
        "tolerance": arguments.tolerance,
        "scoring": arguments.scoring,
        "class_weight": parse_class_weight(arguments.class_weight),
        "threshold": arguments.threshold,
        "qid": arguments.qid,
        "unit": arguments.unit,
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
    }
