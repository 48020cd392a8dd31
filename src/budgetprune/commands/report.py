"""``budgetprune report``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out
from budgetprune.commands.console import Console
from budgetprune.commands.failures import needs_extra
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.forest import Forest
    from budgetprune.model import BudgetModel
    from budgetprune.preprocessing import InputColumns
    from budgetprune.report import OtherModel

PAGE = Path("report.html")


@dataclass(frozen=True)
class ReportArguments:
    """Arguments and options of ``budgetprune report``."""

    model: options.ModelFile
    data: options.DataOption
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            show_default=False,
            help=f"Page to write; {PAGE} by default, none with --json.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(show_default=False, help="Column with the true target; by default the training target."),
    ] = None
    title: Annotated[str, typer.Option(show_default=False, help="Title of the page.")] = ""
    unit: Annotated[
        str,
        typer.Option(
            show_default=False, help="Unit of costs, for example minutes; by default that of the model."
        ),
    ] = ""
    stories: Annotated[
        int,
        typer.Option(min=0, max=5, help="Number of rows shown with their values as examples; 0 for none."),
    ] = 5
    rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Most rows used to measure other budgets; larger data is sampled. The model itself and its "
            "baseline are always measured on all rows.",
        ),
    ] = 5000
    compare: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="MODEL",
            show_default=False,
            help="Another model for the same target, to compare with on the same rows.",
        ),
    ] = None
    error_cost: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[CLASS=]NUMBER",
            show_default=False,
            help="Cost of a wrong prediction, in the unit of the prices, for a model that was trained "
            "without. With CLASS=, for rows of that class; may be repeated. For regression, the cost of a "
            "unit of squared error.",
        ),
    ] = None
    download: Annotated[
        str,
        typer.Option(
            metavar="URL",
            show_default=False,
            help="Address of a server that offers the model at other budgets, with {budget} in it; the page "
            "links to it.",
        ),
    ] = ""
    max_columns: options.MaxColumns = options.MOST_COLUMNS
    sheet: options.Sheet = None
    seed: options.Seed = 0
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the content of the page as one JSON object and nothing else."),
    ] = False
    quiet: options.Quiet = False


def report(arguments: ReportArguments) -> None:
    """Write an HTML report for choosing a budget: score, costs and errors at each budget.

    For a staged model, it shows where rows stop, the value of further stages, and the decisions of single
    rows; for a pruned model, the remaining trees.

    The report is one self-contained HTML file. Use rows that were not used for training or model selection. A
    few of them are shown with their values as examples (--stories 0 shows none).

    Example: budgetprune report ill.budgetprune --data test.csv --unit EUR --out report.html
    """
    out, data = arguments.out, arguments.data
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    page = PAGE if out is None and not arguments.as_json else out
    check_out(page, arguments.model, data, arguments.compare)
    with needs_extra("cli", "pandas", "pyarrow"):
        from budgetprune.workflow import read_table_for
    from budgetprune.commands.report_tables import summary_tables
    from budgetprune.model import BudgetModel
    from budgetprune.report import (
        ReportOptions,
        headline,
        inputs_of,
        pluralize,
        summarise,
        to_json,
        write_page,
    )

    if page is not None:
        with needs_extra("report", "jinja2", "markupsafe", "plotly"):
            import jinja2  # noqa: F401
            import plotly.offline  # noqa: F401
    model = BudgetModel.load(arguments.model)
    if model.about is not None and model.about.score_name.startswith("NDCG"):
        console.note(
            "this model ranks the rows of queries, and was chosen by NDCG. The report measures R², which "
            "says nothing about the order of rows; for NDCG on test rows, see budgetprune inspect."
        )
    forest = inputs_of(model)
    report_options = ReportOptions(
        title=arguments.title,
        unit=arguments.unit,
        n_examples=arguments.stories,
        max_rows=arguments.rows,
        seed=arguments.seed,
        error_costs=_error_costs(arguments.error_cost, forest),
        model_name=arguments.model.name,
        download=arguments.download,
    )
    points = "path" if model.path is not None else "curve"
    with console.stage(f"reading {data}"):
        target = _target(arguments.target, model, data)
        table = read_table_for(forest, data, target, max_columns=arguments.max_columns, sheet=arguments.sheet)
        X, y = _rows_and_labels(forest, table, target)
        other = _other(arguments, target)
    with console.stage(f"measuring all points of the {points} on {pluralize(len(y), 'row')}", bars=True):
        progress = _bar if console.has_bars else None
        summary = summarise(model, X, y, report_options, other=other, progress=progress)
    if page is not None:
        with console.stage(f"writing {page}"):
            write_page(summary, page)
    content = to_json(summary)
    console.show(headline(summary), *summary_tables(content))
    if page is not None:
        console.show(f"Written: {page}")
    console.result(content)


def _other(arguments: ReportArguments, target: str) -> OtherModel | None:
    """Read the model to compare with, and its columns of the same rows; None if there is none."""
    if arguments.compare is None:
        return None
    from budgetprune.model import BudgetModel
    from budgetprune.report import OtherModel, inputs_of
    from budgetprune.workflow import read_table_for, rows_for

    model = BudgetModel.load(arguments.compare)
    if arguments.target is None and model.about is not None and model.about.target != target:
        raise InvalidInputError(
            f"{arguments.compare} predicts {model.about.target!r}, not {target!r}; compare models for the "
            "same target, or say which column holds it: --target COLUMN."
        )
    try:
        forest = inputs_of(model)
        table = read_table_for(
            forest, arguments.data, target, max_columns=arguments.max_columns, sheet=arguments.sheet
        )
        rows = rows_for(forest, table, target=target)
    except InvalidInputError as error:
        raise InvalidInputError(f"--compare {arguments.compare}: {error}") from error
    return OtherModel(model, rows, arguments.compare.name)


def _error_costs(values: list[str] | None, forest: Forest | InputColumns) -> Any:
    """Return error costs as a report takes them: one number, or one for each label; None if not given."""
    from budgetprune.commands.error_costs import parse_error_costs

    costs = parse_error_costs(values)
    if costs is None or not costs.by_class:
        return None if costs is None else costs.others
    labels = () if forest.classes is None else map(str, forest.classes)
    others = {} if costs.others is None else dict.fromkeys(labels, costs.others)
    return others | dict(costs.by_class)


def _target(name: str | None, model: BudgetModel, data: Path) -> str:
    if name is not None:
        return name
    if model.about is None:
        raise InvalidInputError(f"say which column of {data} is the truth: --target COLUMN.")
    return model.about.target


def _rows_and_labels(forest: Forest | InputColumns, table: Any, target: str) -> tuple[Any, Any]:
    """Return rows for the forest, and labels as its classes; unknown labels stay strings."""
    import numpy as np

    from budgetprune.workflow import encode_target, rows_for

    answers = encode_target(table, target, forest.classes)
    if forest.classes is not None:
        is_known = answers >= 0
        written = table.frame[target].astype(str).to_numpy(dtype=object)
        answers = np.where(is_known, forest.classes.astype(object)[answers], written)
    return rows_for(forest, table, target=target), answers


def _bar(done: int, total: int) -> None:
    """Draw a progress bar."""
    width = 40
    filled = width * done // total
    print(
        f"\r  {'━' * filled}{'╌' * (width - filled)} {done} of {total} models",
        end="\n" if done == total else "",
        file=sys.stderr,
        flush=True,
    )
