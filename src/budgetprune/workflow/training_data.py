"""Training and test rows of `fit_table`: reading and validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.workflow.column_costs import column_costs
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import FitOptions
from budgetprune.workflow.tables import (
    Columns,
    Table,
    Target,
    argument,
    check_target,
    classify_columns,
    encode_target,
    open_table,
    read_queries,
    read_target,
    rows_like,
    table_name,
    target_name,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Features, target and costs of a table.

    Attributes
    ----------
    columns : Columns
    target : Target
    costs : FeatureCosts
        By the names of the columns.
    qid : array of shape (n_rows,), or None
        Query of each row.
    """

    columns: Columns
    target: Target
    costs: FeatureCosts
    qid: NDArray[Any] | None = None

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels in sorted order; None for regression."""
        return np.unique(self.target.y) if self.is_classifier else None

    @property
    def is_classifier(self) -> bool:
        return self.target.task == "classification"

    @property
    def description(self) -> str:
        """Number of rows, task and number of columns, for progress messages."""
        return (
            f"{len(self.target.y):,} rows ({self.target.task} of {self.target.name!r}, "
            f"{len(self.columns.names)} columns)"
        )


@dataclass(frozen=True, eq=False)
class HeldOutData:
    """Test rows with the training columns.

    Attributes
    ----------
    frame : pandas.DataFrame
    y : array of shape (n_rows,)
        Class numbers (-1 for a class that the training rows lack), or targets.
    qid : array of shape (n_rows,), or None
        Query of each row.
    """

    frame: pd.DataFrame
    y: NDArray[Any]
    qid: NDArray[Any] | None = None


def read_columns(
    table: Any, target: str | None, options: FitOptions, observer: Observer
) -> tuple[Columns, str]:
    """Read a table; return its features and the name of its target."""
    opened, name = _read_table(table, target, options, observer)
    return _features(opened, name, options), name


def read_training_data(
    table: Any, target: str | None, costs: Any, options: FitOptions, observer: Observer
) -> TrainingData:
    """Read and validate rows and costs; see `fit_table`."""
    opened, name = _read_table(table, target, options, observer)
    task = "regression" if options.qid is not None else options.task
    answers = read_target(opened, name, task)
    queries = read_queries(opened, options.qid)
    columns = _features(opened, name, options)
    left_out = _left_out(options)
    prices = column_costs(costs, columns.names, target=name, dropped=left_out)
    for note in columns.notes():
        observer.note(note)
    return TrainingData(columns, answers, prices, queries)


def _left_out(options: FitOptions) -> tuple[str, ...]:
    """Return columns that are neither features nor the target."""
    return (*options.drop, *(() if options.qid is None else (options.qid,)))


def _read_table(table: Any, target: str | None, options: FitOptions, observer: Observer) -> tuple[Table, str]:
    """Read a table and find its target; check the names of columns in the options."""
    with observer.stage(f"reading {table_name(table)}"):
        # Class labels stay as written: "01" is not a number.
        names = (target, options.qid)
        as_text = [*options.categorical, *(name for name in names if name is not None)]
        opened = open_table(table, as_text=as_text, max_columns=options.max_columns, sheet=options.sheet)
    own = {
        argument("categorical"): options.categorical,
        argument("drop"): options.drop,
        argument("qid"): _left_out(options)[len(options.drop) :],
    }
    for option, columns in own.items():
        opened.check_columns(columns, option)
    name = target_name(opened, target)
    check_target(opened, name)
    for option, columns in own.items():
        if name in columns:
            raise InvalidInputError(f"{option} {name!r} is the target, which is not a feature; leave it out.")
    return opened, name


def _features(table: Table, target: str, options: FitOptions) -> Columns:
    return classify_columns(table, without={target, *_left_out(options)}, categorical=options.categorical)


def read_test_data(test: Any, data: TrainingData, options: FitOptions, observer: Observer) -> HeldOutData:
    """Read test rows with the columns of the training data."""
    columns, target = data.columns, data.target
    as_text = [name for name, is_text in zip(columns.names, columns.is_categorical, strict=True) if is_text]
    as_text += [target.name] if options.qid is None else [target.name, options.qid]
    with observer.stage(f"reading {table_name(test, 'the test table')}"):
        table = open_table(
            test,
            "the test table",
            as_text=as_text,
            max_columns=options.max_columns,
            sheet=options.test_sheet,
            sheet_option="test_sheet",
        )
        answers = encode_target(table, target.name, data.classes)
        return HeldOutData(rows_like(columns, table), answers, read_queries(table, options.qid))
