"""``budgetprune predict``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out, check_shown, write_csv
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

COLUMNS = ("probability", "cost", "decided", "features_used")
INTERVAL = ("lower", "upper")


@dataclass(frozen=True)
class PredictArguments:
    """Arguments and options of ``budgetprune predict``."""

    model: options.ModelFile
    data: Annotated[
        Path,
        typer.Argument(
            help=f"{options.ROWS} With --engine, a pattern or a folder of Parquet files.",
            metavar="DATA",
            show_default=False,
        ),
    ]
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            show_default=False,
            help="CSV file to write; with --engine, a folder for Parquet files.",
        ),
    ] = None
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Acquire everything the trees of all stages use, instead of stopping early.",
        ),
    ] = False
    max_cost: options.MaxCost = None
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Write the probabilities of all classes: a column probability_CLASS each."
        ),
    ] = False
    threshold: options.Threshold = None
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            show_default=False,
            help="For regression: write the columns lower and upper, an interval that contains this share of "
            "the targets of new rows, such as 0.9.",
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help="Column to copy to the output, such as a key. May be repeated.",
        ),
    ] = None
    escape_formulas: options.EscapeFormulas = True
    max_columns: options.MaxColumns = options.MOST_COLUMNS
    sheet: options.Sheet = None
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Predict Parquet files of any size part by part: local (this process) or ray (tasks on a "
            "Ray cluster).",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, show_default=False, help="Number of tasks at the same time, with --engine ray."),
    ] = None
    as_json: options.Json = False
    quiet: options.Quiet = False


def predict(arguments: PredictArguments) -> None:
    """Predict the rows of a table and report the cost of each prediction.

    The output is a CSV file with one line per row: label (or prediction, for regression), probability of that
    label (with --proba, of all classes too), cost, whether it was decided (only --max-cost leaves rows
    undecided), and the features used. Rows of a staged model stop when more columns are not worth their
    price. Rows of a pruned model stop as soon as the label is certain; their probability is an estimate from
    the columns acquired by then. --full acquires everything. Columns that the model never uses may be absent.

    With --engine, DATA are Parquet files with any number of rows, and --out is a folder for the predictions,
    which are Parquet files too. If the command is interrupted, the same command goes on where it stopped.

    Example: budgetprune predict ill.budgetprune new.csv --keep patient --out predictions.csv

    Example: budgetprune predict ill.budgetprune 'rows/*.parquet' --engine ray --out predictions
    """
    if arguments.engine is not None:
        _predict_files(arguments)
        return
    if arguments.workers is not None:
        raise InvalidInputError("--workers is for --engine ray.")
    _check_data(arguments.data)
    from budgetprune.workflow import SEPARATOR, escape_formulas

    out, data, full = arguments.out, arguments.data, arguments.full
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    check_out(out, arguments.model, data)
    check_shown(out, quiet=arguments.quiet, as_json=arguments.as_json)
    if full and arguments.max_cost is not None:
        raise InvalidInputError("--max-cost is for predictions that stop early, and --full for all others.")
    level = arguments.interval
    if level is not None and (full or arguments.max_cost is not None):
        raise InvalidInputError(
            "--interval is for the model's own predictions: its residuals were recorded where rows stop; "
            "leave --full and --max-cost out."
        )
    from budgetprune.commands.predictions import records_of, summary_of
    from budgetprune.model import BudgetModel
    from budgetprune.workflow import class_columns, inputs_of, predict_rows, read_table_for, rows_for

    model = BudgetModel.load(arguments.model)
    predictor, about, kept = model.predictor, model.about, list(dict.fromkeys(arguments.keep or ()))
    if arguments.threshold is not None:
        predictor = predictor.with_threshold(arguments.threshold)
    if level is not None:
        predictor.check_intervals(level)
    by_class = class_columns(predictor) if arguments.proba else ()
    if taken := set(kept) & {*COLUMNS, *INTERVAL, "label", "prediction", *by_class}:
        raise InvalidInputError(f"--keep {min(taken)} has the name of a column that is written; rename it.")
    with console.stage(f"reading {data}"):
        # Without --full, columns of unreachable stages are not needed.
        inputs = inputs_of(predictor, full=full)
        table = read_table_for(inputs, data, max_columns=arguments.max_columns, sheet=arguments.sheet)
        table.check_columns(kept, "--keep")
        rows = rows_for(inputs, table, target=None if about is None else about.target)
    with console.stage(f"predicting {len(rows):,} rows"):
        predictions = predict_rows(
            predictor,
            rows,
            full=full,
            max_cost=arguments.max_cost,
            with_shares=arguments.proba,
            interval=level,
        )
        written = table.frame[kept].assign(**predictions)
    is_escaped = arguments.escape_formulas
    lines = escape_formulas(written, {"features_used": SEPARATOR}) if is_escaped else written
    if out is not None:
        write_csv(lines, out)
        console.show(summary_of(predictions, about), f"Written: {out}")
    elif not arguments.as_json:
        lines.to_csv(sys.stdout, index=False)
    result: dict[str, Any] = {
        "out": None if out is None else str(out),
        "rows": len(written),
        "mean_cost": float(predictions["cost"].mean()),
        "decided": float(predictions["decided"].mean()),
    }
    if arguments.as_json and out is None:
        result["predictions"] = records_of(written)
    console.result(result)


def _check_data(data: Path) -> None:
    if not data.exists():
        advice = "; a pattern needs --engine" if set("*?[") & set(str(data)) else ""
        raise InvalidInputError(f"the data file {data} does not exist{advice}.")
    if data.is_dir():
        raise InvalidInputError(f"{data} is a folder; name a file, or add --engine for its Parquet files.")


def _predict_files(arguments: PredictArguments) -> None:
    """Predict Parquet files part by part, and write Parquet files to a folder."""
    from budgetprune.commands.predictions import undecided
    from budgetprune.workflow import PredictSettings, predict_files

    if arguments.out is None:
        raise InvalidInputError("--engine writes Parquet files; add --out with a folder.")
    if arguments.proba or arguments.threshold is not None or arguments.interval is not None:
        raise InvalidInputError(
            "--proba, --threshold and --interval are for one table; leave them out, or leave --engine out."
        )
    if arguments.sheet is not None:
        raise InvalidInputError("--sheet is for Excel files, and --engine reads Parquet files; leave it out.")
    if arguments.full and arguments.max_cost is not None:
        raise InvalidInputError("--max-cost is for predictions that stop early, and --full for all others.")
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json)
    settings = PredictSettings(tuple(arguments.keep or ()), arguments.full, arguments.max_cost)
    with console.stage(f"predicting {arguments.data}", bars=True):
        summary = predict_files(
            arguments.model,
            arguments.data,
            arguments.out,
            settings=settings,
            engine=arguments.engine or "",
            workers=arguments.workers,
            verbose=console.has_bars,
        )
    n_open = summary.n_rows - round(summary.decided * summary.n_rows)
    console.show(
        f"{summary.n_rows:,} predictions cost {summary.mean_cost:.4g} on average, and at most "
        f"{summary.largest_cost:.4g}{undecided(n_open)}.",
        f"Written: {summary.n_files} file(s) in {arguments.out}",
    )
    console.result(
        {
            "out": str(arguments.out),
            "rows": summary.n_rows,
            "mean_cost": summary.mean_cost,
            "decided": summary.decided,
        }
    )
