"""`predict_batches`: predictions for rows that arrive in batches, in any engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.predictor import BudgetPredictor
from budgetprune.workflow.predictions import check_full, inputs_of, no_answers, predict_rows
from budgetprune.workflow.tables import read_table_for, rows_for

OUTPUT = ("label", "prediction", "probability", "cost", "decided", "features_used")


def predict_batches(
    model: BudgetModel | BudgetPredictor | str | os.PathLike[str],
    batches: Iterable[Any],
    *,
    keep: Sequence[str] = (),
    full: bool = False,
    max_cost: float | None = None,
) -> Iterator[Any]:
    """Predict rows batch by batch.

    The function needs no engine, and suits all that call a function for parts of a table: Ray Data, Dask,
    Spark, or a loop over the batches of a file (docs/how-to/predict-tables.md). The answers to a row do not
    depend on the batch that it is in.

    Parameters
    ----------
    model : BudgetModel, predictor, or path of a model file
        A file is read once in each process.
    batches : iterable of pyarrow.RecordBatch, pyarrow.Table or pandas.DataFrame
        Columns that the model does not use are ignored.
    keep : sequence of str
        Columns to copy to the output, such as a key.
    full : bool
        Acquire everything the trees of all stages use, instead of stopping early.
    max_cost : float, optional
        Limit of the cost of each row.

    Yields
    ------
    predictions : of the same type as the batch
        The columns `keep`; label (or prediction, for regression), probability of that label, cost, whether it
        was decided, and the features used, separated by semicolons. A RecordBatch gives a RecordBatch.
    """
    check_full(full, max_cost)
    given = [keep] if isinstance(keep, str) else list(dict.fromkeys(keep))
    if taken := set(given) & set(OUTPUT):
        raise InvalidInputError(f"keep={min(taken)!r} has the name of a column that is written; rename it.")
    predictor, target = _predictor_of(model)
    return (_predict(predictor, target, batch, given, full, max_cost) for batch in batches)


def _predict(
    predictor: BudgetPredictor,
    target: str | None,
    batch: Any,
    keep: list[str],
    full: bool,
    max_cost: float | None,
) -> Any:
    kind = type(batch)
    is_arrow = kind.__module__.partition(".")[0] == "pyarrow"
    if not is_arrow and not hasattr(batch, "iloc"):
        raise InvalidInputError(
            "a batch must be a pyarrow.RecordBatch, a pyarrow.Table or a pandas.DataFrame, "
            f"not {kind.__name__}."
        )
    table = _as_table(batch) if is_arrow else batch
    if len(table) == 0:
        answers = no_answers(predictor)
        missing = [name for name in keep if name not in _names(table)]
        if missing:
            raise InvalidInputError(f"keep={missing[0]!r} is not a column of a batch.")
    else:
        inputs = inputs_of(predictor, full=full)
        opened = read_table_for(inputs, table)
        opened.check_columns(keep, "keep")
        rows = rows_for(inputs, opened, target=target)
        answers = predict_rows(predictor, rows, full=full, max_cost=max_cost)
    if not is_arrow:
        return batch[keep].assign(**answers)
    import pyarrow as pa

    columns = {name: table.column(name) for name in keep}
    written = pa.table(columns | {name: _array(name, values) for name, values in answers.items()})
    if kind is not pa.RecordBatch:
        return written
    return pa.RecordBatch.from_arrays(
        [column.combine_chunks() for column in written.columns], schema=written.schema
    )


def _array(name: str, values: Any) -> Any:
    import pyarrow as pa

    # The type of no strings is unknown.
    return pa.array(values, pa.string() if name == "features_used" else None)


def _names(table: Any) -> list[str]:
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch


def _predictor_of(
    model: BudgetModel | BudgetPredictor | str | os.PathLike[str],
) -> tuple[BudgetPredictor, str | None]:
    """Return the predictor of a model, and the name of its target."""
    if isinstance(model, str | os.PathLike):
        found = os.stat(model)
        model = _load(os.fspath(model), found.st_size, found.st_mtime_ns)
    if isinstance(model, BudgetPredictor):
        return model, None
    if not isinstance(model, BudgetModel):
        raise InvalidInputError(
            "model must be a BudgetModel, a predictor or the path of a model file, "
            f"not {type(model).__name__}."
        )
    return model.predictor, None if model.about is None else model.about.target


@lru_cache(maxsize=4)
def _load(file: str, size: int, mtime_ns: int) -> BudgetModel:
    """Read a model file; again only if it has changed."""
    return BudgetModel.load(file)
