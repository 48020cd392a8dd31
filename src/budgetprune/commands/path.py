"""``budgetprune path``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from budgetprune.commands import options
from budgetprune.commands.compared import as_table
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.staged import StagedPredictor

if TYPE_CHECKING:
    import pandas as pd


def path(
    model: options.ModelFile,
    out: options.OutTable = None,
    points: Annotated[
        int, typer.Option(min=2, help="Lines to print, at most, evenly spaced in cost; a file has all.")
    ] = 25,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what every other budget would have bought: the whole curve.

    Of a pruned model, from expensive to cheap: each line is an optimal pruning, with its lambda, splits, full
    cost, and error (average of the trees, with leaves as grown). Where it is known, there is the cost that
    counts, and the score that validation rows gave it with refitted leaves. Of a staged model, from cheap to
    expensive: each line has cost, score and loss (what errors cost) on rows that had no part in training,
    their standard deviations between folds, and lambda.

    Example: budgetprune path ill.budgetprune --out curve.csv
    """
    console = Console(quiet=quiet, as_json=as_json, out=out)
    options.check_out(out, model)
    import pandas  # noqa: F401  (an error of our own if it is absent)

    loaded = BudgetModel.load(model)
    if isinstance(loaded.predictor, StagedPredictor):
        curve, whole = loaded.predictor.model.trade_off.to_frame().drop(columns="chain"), None
    elif loaded.path is None:
        raise InvalidInputError(
            f"{model} holds no path, only the model that was chosen; files that fit and prune write hold one."
        )
    else:
        curve, whole = curve_of(loaded), loaded.path.unpruned.cost
    if out is not None:
        options.write_csv(curve, out)
        console.show(f"{len(curve):,} points. Written: {out}")
    else:
        from budgetprune.selection import evenly_spaced

        is_short = len(curve) <= points
        shown = curve if is_short else curve.iloc[evenly_spaced(curve["cost"].to_numpy(), points)]
        title = f"{len(shown)} of {len(curve):,} points"
        title += "" if whole is None else f"; the full forest costs {whole:.4g}"
        console.show(as_table({str(name): [_or(each, "") for each in shown[name]] for name in shown}, title))
    records = [{name: _or(each, None) for name, each in row.items()} for row in curve.to_dict("records")]
    console.result({"points": records, "full_forest_cost": whole})


def _or(value: Any, other: Any) -> Any:
    """A number, or something else where it is not known."""
    return other if np.isnan(value) else value


def curve_of(model: BudgetModel) -> pd.DataFrame:
    """All points of a model's path, from dear to cheap, with what is known about some of them."""
    path, about = model.path, model.about
    assert path is not None
    curve = path.to_frame()[["lam", "splits", "cost", "error"]]
    if about is None or about.tradeoff is None:
        return curve
    known = {name: np.array(column) for name, column in about.tradeoff.items()}
    # Points of the trade-off are points of the path, and of equal costs the first one is meant.
    place = np.searchsorted(-path.cost, -known["full_cost"])
    is_here = path.cost[np.minimum(place, len(path) - 1)] == known["full_cost"]
    columns = {about.score_name: known["score"]}
    if about.counting == "decided":
        columns = {"decided cost": known["cost"]} | columns
    for name, values in columns.items():
        column = np.full(len(path), np.nan)
        column[place[is_here]] = values[is_here]
        curve[name] = column
    return curve
