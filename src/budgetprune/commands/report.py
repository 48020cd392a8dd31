"""``budgetprune report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from budgetprune.commands import options
from budgetprune.commands.console import Console
from budgetprune.commands.failures import needs_extra
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.forest import Forest

PAGE = Path("report.html")


def report(
    model: options.ModelFile,
    data: options.DataOption,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            show_default=False,
            help=f"The page to write; {PAGE} by default, and none with --json.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            show_default=False, help="Column with the truth; by default the one that the model was fitted to."
        ),
    ] = None,
    title: Annotated[str, typer.Option(show_default=False, help="What the page is called.")] = "",
    unit: Annotated[
        str, typer.Option(show_default=False, help="What costs are counted in: minutes, say.")
    ] = "",
    stories: Annotated[
        int,
        typer.Option(
            min=0, max=5, help="Rows of the data that are shown with their values, as examples; 0: none."
        ),
    ] = 5,
    rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rows on which other budgets are measured: of more, a sample is drawn. The model itself and "
            "the one that it is compared with are always measured on all rows.",
        ),
    ] = 5000,
    max_columns: options.MaxColumns = options.MOST_COLUMNS,
    seed: options.Seed = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Prints what the page shows as one JSON object, and nothing else.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page to choose a budget by: what each would buy, what is paid for, what goes wrong.

    Of a staged model, it shows where rows stop, what going on would save, and how single rows are decided; of
    a pruned one, what is left of the trees.

    It is one HTML file that loads nothing from anywhere: look at it in a browser, send it, print it. Give it
    rows that had no part in training or choosing. A few of them are shown with their values, as examples
    (--stories 0 shows none).

    Example: budgetprune report ill.budgetprune --data test.csv --unit EUR --out report.html
    """
    console = Console(quiet=quiet, as_json=as_json, out=out)
    page = PAGE if out is None and not as_json else out
    options.check_out(page, model, data)
    with needs_extra("cli", "pandas", "pyarrow"):
        from budgetprune.workflow.tables import read_table_for
    from budgetprune.model import BudgetModel
    from budgetprune.report import forest_of, summarise, write_page
    from budgetprune.report.numbers import several

    if page is not None:
        with needs_extra("report", "jinja2", "markupsafe", "plotly"):
            import jinja2  # noqa: F401
            import plotly.offline  # noqa: F401
    loaded = BudgetModel.load(model)
    forest = forest_of(loaded)
    points = "path" if loaded.path is not None else "curve"
    with console.stage(f"reading {data}"):
        truth = _target(target, loaded, data)
        table = read_table_for(forest, data, truth, max_columns=max_columns)
        X, y = _rows_and_truth(forest, table, truth)
    with console.stage(f"measuring all points of the {points} on {several(len(y), 'row')}", bars=True):
        summary = summarise(
            loaded,
            X,
            y,
            title=title,
            unit=unit,
            n_stories=stories,
            max_rows=rows,
            seed=seed,
            progress=_bar if console.has_bars else None,
        )
    if page is not None:
        with console.stage(f"writing {page}"):
            write_page(summary, page)
        console.show(summary.headline, f"Written: {page}")
    console.result(summary.to_json())


def _target(name: str | None, loaded: Any, data: Path) -> str:
    if name is None and loaded.about is None:
        raise InvalidInputError(f"say which column of {data} is the truth: --target COLUMN.")
    return str(loaded.about.target if name is None else name)


def _rows_and_truth(forest: Forest, table: Any, target: str) -> tuple[Any, Any]:
    """Rows as the forest takes them, and labels as it knows them; others stay as they are written."""
    from budgetprune.workflow.tables import read_answers, rows_for

    answers = read_answers(table, target, forest.classes)
    if forest.classes is not None:
        is_known = answers >= 0
        written = table.frame[target].astype(str).to_numpy(dtype=object)
        answers = np.where(is_known, forest.classes.astype(object)[answers], written)
    return rows_for(forest, table, target=target), answers


def _bar(done: int, total: int) -> None:
    """Draw a line that grows; its end is the end of the stage."""
    width = 40
    filled = width * done // total
    print(
        f"\r  {'━' * filled}{'╌' * (width - filled)} {done} of {total} models",
        end="\n" if done == total else "",
        file=sys.stderr,
        flush=True,
    )
