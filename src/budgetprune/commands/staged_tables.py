"""Tables of a staged model: trade-off curve, stages, and comparison with a plain model."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table

from budgetprune.commands.console import Console
from budgetprune.commands.quality import quality_tables

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel
    from budgetprune.staged import StagedModel

# Most points of the curve and most sources of a stage that are shown.
MOST_LINES, MOST_SOURCES = 9, 6
YOURS = "<- your model"
PLAIN = "plain model, all columns"


def show_fitted_staged(console: Console, model: BudgetModel, out: Path, *, has_error_costs: bool) -> None:
    """Print a staged model: its curve, its stages, and a comparison if there are test rows."""
    from budgetprune.staged import StagedPredictor

    about, predictor = model.about, model.predictor
    assert about is not None
    assert isinstance(predictor, StagedPredictor)
    staged = predictor.model
    console.show(
        curve_table(staged, about.score_name, unit=about.unit, has_error_costs=has_error_costs),
        stage_table(staged, unit=about.unit),
    )
    if about.compared is not None:
        console.show(compared_table(model), *quality_tables(model, PLAIN))
    else:
        console.show("Add test rows (--test) for a comparison with a plain model on all columns.")
    console.show(
        f"Other budgets need no training: budgetprune rebudget {out} --budget ... --out ...",
        f"Written: {out}",
    )
    result = {"out": str(out), "n_features": predictor.forest.n_features, **about.to_json()}
    console.result(result | {"curve": curve_values(staged), "stages": stage_values(staged)})


def curve_values(model: StagedModel) -> dict[str, list[float]]:
    """Return all points of the curve, in order of cost, as JSON types."""
    curve = model.trade_off
    names = ("cost", "cost_std", "score", "score_std", "loss", "lam")
    return {name: getattr(curve, name).tolist() for name in names}


def stage_values(model: StagedModel) -> list[dict[str, Any]]:
    """Return the reachable stages as JSON types; an unknown score is None."""
    return [
        asdict(stage) | {"score": stage.score if math.isfinite(stage.score) else None}
        for stage in model.stages()
    ]


def curve_table(model: StagedModel, score_name: str, *, unit: str = "", has_error_costs: bool) -> Table:
    """Return a table of cost and score at several budgets, and of error costs if given."""
    curve = model.trade_off
    table = _table("What each budget buys, on rows that had no part in training", unit)
    priced = ("errors cost", "in all") if has_error_costs else ()
    _add_numbers(table, "average cost", score_name, *priced)
    table.add_column("")
    for k in shown_points(model):
        cost, loss = float(curve.cost[k]), float(curve.loss[k]) if has_error_costs else None
        table.add_row(*_cells(cost, float(curve.score[k]), loss), YOURS if k == model.point else "")
    return table


def _add_numbers(table: Table, *names: str) -> None:
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)


def _cells(cost: float, score: float | None, loss: float | None) -> list[str]:
    """Format cost and score; with error costs, also these and the total."""
    cells = [f"{cost:.4g}", "?" if score is None else f"{score:.4f}"]
    return cells if loss is None else [*cells, f"{loss:.4g}", f"{cost + loss:.4g}"]


def shown_points(model: StagedModel, most: int = MOST_LINES) -> list[int]:
    """Select points evenly spaced in cost and in score, both ends, and the current point."""
    import numpy as np

    shown = {model.point}
    for values in (model.trade_off.cost, model.trade_off.score):
        wanted = np.linspace(values[0], values[-1], most // 2 + 1)
        shown |= set(np.abs(values[:, np.newaxis] - wanted).argmin(axis=0).tolist())
    return sorted(shown)


def stage_table(model: StagedModel, *, unit: str = "") -> Table:
    """Return a table of stages: sources, prices, shares of rows, and scores."""
    table = _table("Your model, stage by stage", unit)
    for name in ("stage", "buys"):
        table.add_column(name)
    _add_numbers(table, "price", "cost\nso far", "rows that\nreach it", "rows that stop\nthere")
    stages = model.stages()
    has_scores = all(math.isfinite(stage.score) for stage in stages)
    if has_scores:
        _add_numbers(table, "score\nthere")
    for k, stage in enumerate(stages):
        cells = [f"{stage.price:.4g}", f"{stage.cost:.4g}"]
        cells += [f"{100 * share:.1f} %" for share in (stage.reached, stage.stops)]
        cells += [f"{stage.score:.4f}"] if has_scores else []
        table.add_row(str(k), _listed(stage.sources), *cells)
    return table


def _listed(sources: tuple[str, ...]) -> str:
    if not sources:
        return "nothing"
    more = f" and {len(sources) - MOST_SOURCES} more" if len(sources) > MOST_SOURCES else ""
    return escape(", ".join(sources[:MOST_SOURCES]) + more)


def compared_table(model: BudgetModel) -> Table:
    """Return a table that compares a staged model with a plain one on test rows."""
    about = model.about
    assert about is not None
    assert about.compared is not None
    compared, n_features = about.compared, model.predictor.forest.n_features
    s = "" if compared.n_rows == 1 else "s"
    table = _table(f"Average cost and {about.score_name} on {compared.n_rows:,} test row{s}", about.unit)
    table.add_column("")
    is_priced = compared.chosen.loss is not None
    _add_numbers(
        table, "cost", about.score_name, *(("errors cost", "in all") if is_priced else ()), "columns"
    )
    for name, figures in ((PLAIN, compared.whole), ("your model", compared.chosen)):
        cells = _cells(figures.cost, figures.score, figures.loss)
        table.add_row(name, *cells, f"{figures.n_features} of {n_features}")
    return table


def _table(title: str, unit: str = "") -> Table:
    priced = f"{title}; costs in {unit}" if unit else title
    return Table(box=box.SIMPLE_HEAD, title=escape(priced), title_justify="left")
