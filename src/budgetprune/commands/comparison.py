"""Comparison of the chosen model with the full ensemble, as a table and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table

from budgetprune.commands.console import Console
from budgetprune.commands.quality import quality_tables

if TYPE_CHECKING:
    from budgetprune.model import About, BudgetModel, Figures

TITLES = {"test": "on {n:,} test row{s}", "validation": "on {n:,} validation row{s}, cross-fitted"}


def show_fitted(console: Console, model: BudgetModel, out: Path) -> None:
    """Print a pruned model: cost and score next to those of the full ensemble."""
    assert model.about is not None
    tables = [compared_table(model), *quality_tables(model, whole_name(model))]
    console.show(*tables, *_remarks(model), f"Written: {out}")
    n_features = model.predictor.forest.n_features
    console.result({"out": str(out), "n_features": n_features, **model.about.to_json()})


def compared_table(model: BudgetModel) -> Table:
    """Return a table of the model and the ensemble that it was pruned from."""
    about = model.about
    assert about is not None
    assert about.compared is not None
    compared, n_features = about.compared, model.predictor.forest.n_features
    title = TITLES[compared.rows].format(n=compared.n_rows, s="" if compared.n_rows == 1 else "s")
    title = f"Average cost{in_unit(about)} and {about.score_name} {title}"
    table = Table(box=box.SIMPLE_HEAD, title=escape(title), title_justify="left")
    table.add_column("")
    for name in ("full cost", "decided cost", about.score_name, "features", "splits"):
        table.add_column(name, justify="right")
    for name, figures in ((whole_name(model), compared.whole), ("your model", compared.chosen)):
        table.add_row(name, *_cells(figures, n_features))
    return table


def whole_name(model: BudgetModel) -> str:
    """Return what tables call the ensemble that a model was pruned from."""
    return "full ensemble" if model.predictor.forest.is_boosted else "full forest"


def in_unit(about: About) -> str:
    """Return the unit of the prices after a comma; empty if it is unknown."""
    return f", {about.unit}," if about.unit else ""


def with_unit(amount: str, about: About | None) -> str:
    """Return an amount with the unit of the prices, if that is known."""
    return amount if about is None or not about.unit else f"{amount} {about.unit}"


def _cells(figures: Figures, n_features: int) -> list[str]:
    decided = "" if figures.decided_cost is None else f"{figures.decided_cost:.4g}"
    score = "?" if figures.score is None else f"{figures.score:.4f}"
    used = f"{figures.n_features} of {n_features}"
    return [f"{figures.cost:.4g}", decided, score, used, f"{figures.n_splits:,}"]


def _remarks(model: BudgetModel) -> list[str]:
    about = model.about
    assert about is not None
    budget = "no budget"
    if about.budget is not None:
        budget = f"budget {with_unit(f'{about.budget:g}', about)} ({about.counting} cost)"
    lines = [
        f"Chosen: {budget}, lambda {about.lam:.4g}; {about.choices}.",
        "Full cost is every source on a row's paths through all trees; decided cost is what is acquired if "
        "each row stops once its answer is certain.",
    ]
    if about.compared is not None and about.compared.rows == "validation":
        lines.append("The model was chosen on the validation rows: for an unbiased comparison, add --test.")
    return lines


def as_table(columns: dict[str, list[Any]], title: str | None = None) -> Table:
    """Return a table of columns; numbers are aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for name, entries in columns.items():
        is_text = all(isinstance(entry, str) for entry in entries)
        table.add_column(escape(name), justify="left" if is_text else "right")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(escape(entry) if isinstance(entry, str) else f"{entry:.6g}" for entry in row))
    return table
