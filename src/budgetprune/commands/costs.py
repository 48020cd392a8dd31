"""``budgetprune costs init``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out, check_shown
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError
from budgetprune.utils.files import find_destination, written_atomically


@dataclass(frozen=True)
class InitArguments:
    """Arguments and options of ``budgetprune costs init``."""

    data: options.Data
    target: options.TargetName = None
    out: options.OutTable = None
    categorical: options.Categorical = None
    drop: options.Drop = None
    escape_formulas: options.EscapeFormulas = True
    max_columns: options.MaxColumns = options.MOST_COLUMNS
    sheet: options.Sheet = None
    force: Annotated[bool, typer.Option("--force", help="Replace an existing price list.")] = False
    as_json: options.Json = False
    quiet: options.Quiet = False


def init(arguments: InitArguments) -> None:
    """Write a price list template with one line for each column of a table.

    Fill in the column cost: a number of at least 0, in any unit. If several columns share a source that is
    paid for once (a blood draw, a bureau, a scan), write its name into their column source, and add a line
    without a feature for its price: ",10,blood draw". For a column that is computed from others, write cost 0
    and the names of those columns in source, separated by semicolons. The column note is free text.

    Example: budgetprune costs init patients.csv --target ill --out costs.csv
    """
    out, data = arguments.out, arguments.data
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    check_out(out, data)
    check_shown(out, quiet=arguments.quiet, as_json=arguments.as_json)
    if out is not None and find_destination(out).is_file and not arguments.force:
        raise InvalidInputError(
            f"{out} is there already, and may have prices in it; add --force to replace it."
        )
    from budgetprune.workflow import FitOptions, price_list_template, read_columns

    fit_options = FitOptions(
        categorical=arguments.categorical or (),
        drop=arguments.drop or (),
        max_columns=arguments.max_columns,
        sheet=arguments.sheet,
    )
    columns, target = read_columns(data, arguments.target, fit_options, console)
    text = price_list_template(columns, escape_formulas=arguments.escape_formulas)
    if out is not None:
        with written_atomically(out) as handle:
            handle.write(text.encode())
    result = {"columns": columns.names, "target": target, "written": None if out is None else str(out)}
    console.result(result | ({"template": text} if out is None else {}))
    if out is None:
        if not arguments.as_json:
            typer.echo(text, nl=False)
        return
    console.show(
        f"Written: {out}, with {len(columns.names)} columns. Fill in the costs, then run: "
        f"budgetprune fit {data} --target {target} --costs {out} --budget ... --out model.budgetprune"
    )
