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
    """

    columns: Columns
    target: Target
    costs: FeatureCosts

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
    """

    frame: pd.DataFrame
    y: NDArray[Any]


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
    answers = read_target(opened, name, options.task)
    columns = _features(opened, name, options)
    prices = column_costs(costs, columns.names, target=name, dropped=options.drop)
    for note in columns.notes():
        observer.note(note)
    return TrainingData(columns, answers, prices)


def _read_table(table: Any, target: str | None, options: FitOptions, observer: Observer) -> tuple[Table, str]:
    """Read a table and find its target; check the names of columns in the options."""
    with observer.stage(f"reading {table_name(table)}"):
        # Class labels stay as written: "01" is not a number.
        as_text = [*options.categorical, *([] if target is None else [target])]
        opened = open_table(table, as_text=as_text, max_columns=options.max_columns, sheet=options.sheet)
    own = {argument("categorical"): options.categorical, argument("drop"): options.drop}
    for option, columns in own.items():
        opened.check_columns(columns, option)
    name = target_name(opened, target)
    check_target(opened, name)
    for option, columns in own.items():
        if name in columns:
            raise InvalidInputError(f"{option} {name!r} is the target, which is not a feature; leave it out.")
    return opened, name


def _features(table: Table, target: str, options: FitOptions) -> Columns:
    return classify_columns(table, without={target, *options.drop}, categorical=options.categorical)


def read_test_data(test: Any, data: TrainingData, options: FitOptions, observer: Observer) -> HeldOutData:
    """Read test rows with the columns of the training data."""
    columns, target = data.columns, data.target
    as_text = [name for name, is_text in zip(columns.names, columns.is_categorical, strict=True) if is_text]
    classes = np.unique(target.y) if data.is_classifier else None
    with observer.stage(f"reading {table_name(test, 'the test table')}"):
        table = open_table(
            test,
            "the test table",
            as_text=[*as_text, target.name],
            max_columns=options.max_columns,
            sheet=options.test_sheet,
            sheet_option="test_sheet",
        )
        return HeldOutData(rows_like(columns, table), encode_target(table, target.name, classes))
