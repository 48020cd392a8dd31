"""``budgetprune predict``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from budgetprune.commands import options
from budgetprune.commands.checks import check_out, check_shown, write_csv
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from budgetprune.forest import Forest
    from budgetprune.predictor import BudgetPredictor

COLUMNS = ("probability", "cost", "decided", "features_used")
SEPARATOR = ";"  # separates feature names within one field


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
    from budgetprune.model import BudgetModel
    from budgetprune.workflow import read_table_for, rows_for

    model = BudgetModel.load(arguments.model)
    predictor, about, kept = model.predictor, model.about, list(dict.fromkeys(arguments.keep or ()))
    if taken := set(kept) & {*COLUMNS, "label", "prediction"}:
        raise InvalidInputError(f"--keep {min(taken)} has the name of a column that is written; rename it.")
    with console.stage(f"reading {data}"):
        # Without --full, columns of unreachable stages are not needed.
        forest = predictor.inputs(_all_trees(predictor) if full else None)
        table = read_table_for(forest, data, max_columns=arguments.max_columns, sheet=arguments.sheet)
        table.check_columns(kept, "--keep")
        rows = rows_for(forest, table, target=None if about is None else about.target)
    with console.stage(f"predicting {len(rows):,} rows"):
        predictions = (
            _predict_full(predictor, rows) if full else _predict_early(predictor, rows, arguments.max_cost)
        )
        written = table.frame[kept].assign(**predictions)
    is_escaped = arguments.escape_formulas
    lines = escape_formulas(written, {"features_used": SEPARATOR}) if is_escaped else written
    if out is not None:
        write_csv(lines, out)
        console.show(_summary(predictions), f"Written: {out}")
    elif not arguments.as_json:
        lines.to_csv(sys.stdout, index=False)
    result: dict[str, Any] = {
        "out": None if out is None else str(out),
        "rows": len(written),
        "mean_cost": float(predictions["cost"].mean()),
        "decided": float(predictions["decided"].mean()),
    }
    if arguments.as_json and out is None:
        result["predictions"] = _records(written)
    console.result(result)


def _records(written: pd.DataFrame) -> Any:
    """Return rows in full precision; missing values are None."""
    return written.astype(object).where(written.notna(), None).to_dict(orient="records")


def _predict_early(predictor: BudgetPredictor, rows: pd.DataFrame, max_cost: float | None) -> dict[str, Any]:
    """Predict with sequential acquisition and early stopping."""
    from budgetprune.staged import StagedPredictor

    simulation = predictor.simulate(rows, max_cost=max_cost)
    probability = None
    if simulation.probabilities is not None:
        probability = _of_label(predictor, simulation.label, simulation.probabilities)
        if predictor.threshold is None and not isinstance(predictor, StagedPredictor):
            # Lower bound for a decided label: remaining trees cannot change it.
            least = 1 / simulation.probabilities.shape[1]
            probability = np.where(simulation.decided, np.maximum(probability, least), probability)
    return _columns(
        predictor, simulation.label, probability, simulation.cost, simulation.decided, simulation.acquired
    )


def _predict_full(predictor: BudgetPredictor, rows: pd.DataFrame) -> dict[str, Any]:
    """Predict from all features that the trees use."""
    label, acquired = predictor.predict(rows), _all_sources(predictor, rows)
    probability = None
    if predictor.forest.is_classifier:
        probability = _of_label(predictor, label, predictor.predict_proba(rows))
    is_decided = np.ones(len(rows), dtype=np.bool_)
    return _columns(predictor, label, probability, predictor.costs.total(acquired), is_decided, acquired)


def _all_trees(predictor: BudgetPredictor) -> Forest:
    """Return all trees, including those of unreachable stages."""
    from budgetprune.staged import StagedPredictor

    return predictor.model.trees() if isinstance(predictor, StagedPredictor) else predictor.forest


def _all_sources(predictor: BudgetPredictor, rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return sources acquired without early stopping: all stages, or all sources on a row's paths."""
    from budgetprune.problem import sources_used
    from budgetprune.staged import StagedPredictor

    if not isinstance(predictor, StagedPredictor):
        return sources_used(predictor.forest, predictor.costs, predictor.encode(rows))
    acquired = np.zeros((len(rows), predictor.costs.n_sources), dtype=np.bool_)
    for stage in predictor.model.chain.stages:
        acquired[:, list(stage.sources)] = True
    return acquired


def _of_label(
    predictor: BudgetPredictor, label: NDArray[Any], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    classes = predictor.forest.classes
    assert classes is not None
    order = np.argsort(classes)
    number = order[np.searchsorted(classes, label, sorter=order)]
    return probabilities[np.arange(label.size), number]


def _columns(
    predictor: BudgetPredictor,
    label: NDArray[Any],
    probability: NDArray[np.float64] | None,
    cost: NDArray[np.float64],
    decided: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
) -> dict[str, Any]:
    used = features_used(predictor, acquired)
    numbers = {"prediction": label} if probability is None else {"label": label, "probability": probability}
    return numbers | {"cost": cost, "decided": decided, "features_used": used}


def features_used(predictor: BudgetPredictor, acquired: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Return the names of the tested features that each row acquired.

    Many rows acquire the same sources, so names are joined once per distinct set.
    """
    forest, costs = predictor.inputs(_all_trees(predictor)), predictor.feature_costs
    tested = forest.used_features.tolist()
    needs = [costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]] for k in tested]
    packed, which = np.unique(np.packbits(acquired, axis=1), axis=0, return_inverse=True)
    sets = np.unpackbits(packed, axis=1, count=costs.n_sources).astype(np.bool_)
    is_paid = costs.price > 0
    names = np.empty(len(sets), dtype=object)
    for i, has in enumerate(sets):
        known = [k for k, needed in zip(tested, needs, strict=True) if (has | ~is_paid)[needed].all()]
        names[i] = SEPARATOR.join(predictor.feature_names[k] for k in known)
    return names[which.reshape(-1)]


def _summary(predictions: dict[str, Any]) -> str:
    cost, n_rows = predictions["cost"], len(predictions["cost"])
    n_open = n_rows - int(np.count_nonzero(predictions["decided"]))
    left = f"; {n_open:,} were not decided within what they may cost" if n_open else ""
    return (
        f"{n_rows:,} predictions cost {np.mean(cost):.4g} on average, and at most {np.max(cost):.4g}{left}."
    )
