"""Tables of a staged model: what each budget buys, what each stage buys, and a plain model beside it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from budgetprune.model import BudgetModel
from budgetprune.staged.model import StagedModel

# Lines of the curve that are shown, at most, and sources of a stage.
MOST_LINES, MOST_SOURCES = 9, 6
YOURS = "<- your model"


def curve_values(model: StagedModel) -> dict[str, list[float]]:
    """All points of the curve, in order of their cost, as plain values."""
    curve = model.trade_off
    names = ("cost", "cost_std", "score", "score_std", "loss", "lam")
    return {name: getattr(curve, name).tolist() for name in names}


def stage_values(model: StagedModel) -> list[dict[str, Any]]:
    """The stages that rows can get to, as plain values; a score that is not known is None."""
    return [
        asdict(stage) | {"score": stage.score if np.isfinite(stage.score) else None}
        for stage in model.stages()
    ]


def curve_table(model: StagedModel, score_name: str, *, has_error_costs: bool) -> Table:
    """Show cost and score for several budgets; and what errors cost, if they have a price."""
    curve, table = model.trade_off, _table("What each budget buys, on rows that had no part in training")
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
    """Cost and score; and what errors cost, and both costs together, if errors have a price."""
    cells = [f"{cost:.4g}", "?" if score is None else f"{score:.4f}"]
    return cells if loss is None else [*cells, f"{loss:.4g}", f"{cost + loss:.4g}"]


def shown_points(model: StagedModel, most: int = MOST_LINES) -> list[int]:
    """Choose points that are about evenly spaced in cost and in score, both ends, and the one in use."""
    shown = {model.point}
    for values in (model.trade_off.cost, model.trade_off.score):
        wanted = np.linspace(values[0], values[-1], most // 2 + 1)
        shown |= set(np.abs(values[:, np.newaxis] - wanted).argmin(axis=0).tolist())
    return sorted(shown)


def stage_table(model: StagedModel) -> Table:
    """Show what each stage buys, how many rows get there and stop there, and the score if all do."""
    table = _table("Your model, stage by stage")
    for name in ("stage", "buys"):
        table.add_column(name)
    _add_numbers(table, "price", "cost\nso far", "rows that\nreach it", "rows that stop\nthere")
    stages = model.stages()
    has_scores = bool(np.isfinite([stage.score for stage in stages]).all())
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
    """Show a staged model beside a plain one, on test rows."""
    about = model.about
    assert about is not None
    assert about.compared is not None
    compared, n_features = about.compared, model.predictor.forest.n_features
    s = "" if compared.n_rows == 1 else "s"
    table = _table(f"Average cost and {about.score_name} on {compared.n_rows:,} test row{s}")
    table.add_column("")
    is_priced = compared.chosen.loss is not None
    _add_numbers(
        table, "cost", about.score_name, *(("errors cost", "in all") if is_priced else ()), "columns"
    )
    for name, figures in (("plain model, all columns", compared.whole), ("your model", compared.chosen)):
        cells = _cells(figures.cost, figures.score, figures.loss)
        table.add_row(name, *cells, f"{figures.n_features} of {n_features}")
    return table


def _table(title: str) -> Table:
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
