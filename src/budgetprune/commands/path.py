"""``budgetprune path``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetprune.commands import options
from budgetprune.commands.checks import check_out, write_csv
from budgetprune.commands.comparison import as_table
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from budgetprune.model import BudgetModel


@dataclass(frozen=True)
class PathArguments:
    """Arguments and options of ``budgetprune path``."""

    model: options.ModelFile
    out: options.OutTable = None
    points: Annotated[
        int, typer.Option(min=2, help="Most points to print, evenly spaced in cost; a file has all points.")
    ] = 25
    as_json: options.Json = False
    quiet: options.Quiet = False


def path(arguments: PathArguments) -> None:
    """Show the trade-off curve of a model: cost and score at every budget.

    Pruned model, from expensive to cheap: each line is an optimal pruning with its lambda, splits, full cost,
    and error (average of the trees, leaves as grown). Some lines also have the decided cost, if that is
    counted, and the validation score with refitted leaves. Staged model, from cheap to expensive: each line
    has cost, score and loss (cost of errors) on out-of-fold rows, standard deviations between folds, and
    lambda.

    Example: budgetprune path ill.budgetprune --out curve.csv
    """
    from budgetprune.model import BudgetModel
    from budgetprune.staged import StagedPredictor

    out = arguments.out
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    check_out(out, arguments.model)
    import pandas  # noqa: F401  (fails with a clear error if absent)

    model = BudgetModel.load(arguments.model)
    if isinstance(model.predictor, StagedPredictor):
        curve, full_cost = model.predictor.model.trade_off.to_frame().drop(columns="chain"), None
    elif model.path is None:
        raise InvalidInputError(
            f"{arguments.model} holds no path, only the model that was chosen; files that fit and prune "
            "write hold one."
        )
    else:
        curve, full_cost = curve_of(model), model.path.unpruned.cost
    if out is not None:
        write_csv(curve, out)
        console.show(f"{len(curve):,} points. Written: {out}")
    else:
        from budgetprune.selection import evenly_spaced

        points = arguments.points
        is_short = len(curve) <= points
        shown = curve if is_short else curve.iloc[evenly_spaced(curve["cost"].to_numpy(), points)]
        title = f"{len(shown)} of {len(curve):,} points"
        title += "" if full_cost is None else f"; the full forest costs {full_cost:.4g}"
        console.show(as_table({str(name): [_or(each, "") for each in shown[name]] for name in shown}, title))
    records = [{name: _or(each, None) for name, each in row.items()} for row in curve.to_dict("records")]
    console.result({"points": records, "full_forest_cost": full_cost})


def _or(value: Any, other: Any) -> Any:
    """Return the value, or `other` if it is NaN."""
    return other if math.isnan(value) else value


def curve_of(model: BudgetModel) -> pd.DataFrame:
    """Return all points of a model's path, from expensive to cheap, with known costs and scores."""
    import numpy as np

    path, about = model.path, model.about
    assert path is not None
    curve = path.to_frame()[["lam", "splits", "cost", "error"]]
    if about is None or about.tradeoff is None:
        return curve
    known = {name: np.array(column) for name, column in about.tradeoff.items()}
    # Trade-off points are points of the path; ties in cost refer to the first one.
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
