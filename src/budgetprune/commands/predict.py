"""``budgetprune predict``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out, check_shown, write_csv
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

COLUMNS = ("probability", "cost", "decided", "features_used")


@dataclass(frozen=True)
class PredictArguments:
    """Arguments and options of ``budgetprune predict``."""

    model: options.ModelFile
    data: options.Data
    out: options.OutTable = None
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Acquire everything the trees of all stages use, instead of stopping early.",
        ),
    ] = False
    max_cost: options.MaxCost = None
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
    as_json: options.Json = False
    quiet: options.Quiet = False


def predict(arguments: PredictArguments) -> None:
    """Predict the rows of a table and report the cost of each prediction.

    The output is a CSV file with one line per row: label (or prediction, for regression), probability of that
    label, cost, whether it was decided (only --max-cost leaves rows undecided), and the features used. Rows
    of a staged model stop when more columns are not worth their price. Rows of a pruned model stop as soon as
    the label is certain; their probability is an estimate from the columns acquired by then. --full acquires
    everything. Columns that the model never uses may be absent.

    Example: budgetprune predict ill.budgetprune new.csv --keep patient --out predictions.csv
    """
    from budgetprune.workflow import escape_formulas

    out, data, full = arguments.out, arguments.data, arguments.full
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    check_out(out, arguments.model, data)
    check_shown(out, quiet=arguments.quiet, as_json=arguments.as_json)
    if full and arguments.max_cost is not None:
        raise InvalidInputError("--max-cost is for predictions that stop early, and --full for all others.")
    from budgetprune.commands import predictions as columns
    from budgetprune.model import BudgetModel
    from budgetprune.workflow import read_table_for, rows_for

    model = BudgetModel.load(arguments.model)
    predictor, about, kept = model.predictor, model.about, list(dict.fromkeys(arguments.keep or ()))
    if taken := set(kept) & {*COLUMNS, "label", "prediction"}:
        raise InvalidInputError(f"--keep {min(taken)} has the name of a column that is written; rename it.")
    with console.stage(f"reading {data}"):
        # Without --full, columns of unreachable stages are not needed.
        forest = predictor.inputs(columns.all_trees(predictor) if full else None)
        table = read_table_for(forest, data, max_columns=arguments.max_columns, sheet=arguments.sheet)
        table.check_columns(kept, "--keep")
        rows = rows_for(forest, table, target=None if about is None else about.target)
    with console.stage(f"predicting {len(rows):,} rows"):
        predictions = (
            columns.predict_full(predictor, rows)
            if full
            else columns.predict_early(predictor, rows, arguments.max_cost)
        )
        written = table.frame[kept].assign(**predictions)
    is_escaped = arguments.escape_formulas
    lines = escape_formulas(written, {"features_used": columns.SEPARATOR}) if is_escaped else written
    if out is not None:
        write_csv(lines, out)
        console.show(columns.summary_of(predictions), f"Written: {out}")
    elif not arguments.as_json:
        lines.to_csv(sys.stdout, index=False)
    result: dict[str, Any] = {
        "out": None if out is None else str(out),
        "rows": len(written),
        "mean_cost": float(predictions["cost"].mean()),
        "decided": float(predictions["decided"].mean()),
    }
    if arguments.as_json and out is None:
        result["predictions"] = columns.records_of(written)
    console.result(result)
