"""Target column: classes or numbers, and its validation."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables.arguments import argument, flag, setting
from budgetprune.workflow.tables.columns import (
    MOST_NUMBERS_OF_TEXT,
    as_categories,
    as_numbers,
    finite_numbers,
    refuse_decimal_commas,
)
from budgetprune.workflow.tables.reading import LABEL, Table, columns_of

Task = Literal["classification", "regression"]

# Integers with at most this many distinct values are classes by default.
MOST_NUMBERED_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Target:
    """Target of a table.

    Attributes
    ----------
    name : str
    task : {"classification", "regression"}
    y : array of shape (n_rows,)
        Labels (strings, integers or booleans), or float64 for regression.
    """

    name: str
    task: Task
    y: NDArray[Any]


def target_name(table: Table, name: str | None) -> str:
    """Return the name of the target; only svmlight files have a default."""
    if name is not None:
        return name
    if table.kind == "svmlight":
        return LABEL
    raise InvalidInputError(
        f"say which column of {table.file} is predicted: target='COLUMN' ({flag('target')} COLUMN)."
    )


def check_target(table: Table, name: str) -> None:
    """Raise unless the table has this column."""
    if name in table.frame.columns:
        return
    close = get_close_matches(name, table.frame.columns, n=1) or [
        other for other in table.frame.columns if other.lower() == name.lower()
    ]
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise InvalidInputError(
        f"the target {name!r} is not a column of {table.file}; {hint}{columns_of(table.frame)}."
    )


def check_varied(table: Table, name: str) -> None:
    """Raise if the target is constant."""
    check_target(table, name)
    column = table.frame[name].dropna()
    if column.nunique() == 1:
        raise InvalidInputError(
            f"the target {name!r} is always {str(column.iloc[0])!r}; add rows with other values, which are "
            "needed for training."
        )


def read_target(table: Table, name: str, task: Task | None = None) -> Target:
    """Read and validate the target.

    Parameters
    ----------
    table : Table
    name : column
    task : None means regression for numbers, except for few distinct integers, which are classes
    """
    check_target(table, name)
    _refuse_missing(table, name)
    check_varied(table, name)
    if task == "regression" or (task is None and _is_quantity(table, name)):
        advice = "" if task else f", or say {setting('task', 'classification')} if these are names of classes"
        return Target(name, "regression", finite_numbers(table, name, advice).to_numpy())
    if task is None:
        refuse_decimal_commas(table, name, f"say {setting('task', 'classification')}")
    return Target(name, "classification", _classes(table, name))


def read_queries(table: Table, name: str | None) -> NDArray[Any] | None:
    """Return the query of each row as text, from a column; None if there is no such column."""
    if name is None:
        return None
    table.check_columns([name], argument("qid"))
    _refuse_missing(table, name, f"{argument('qid')} {name!r}")
    return np.asarray(as_categories(table.frame[name]).astype(str).to_numpy(dtype=np.str_))


def _refuse_missing(table: Table, name: str, what: str | None = None) -> None:
    is_missing = table.frame[name].isna().to_numpy()
    if is_missing.any():
        rows = np.flatnonzero(is_missing).tolist()
        what = f"the target {name!r}" if what is None else what
        raise InvalidInputError(
            f"{what} is missing in {len(rows)} of {is_missing.size} rows: {table.places(rows)} "
            "(NA, NaN, null and the like mean that, too); leave these rows out."
        )


def _is_quantity(table: Table, name: str) -> bool:
    """Whether a column holds quantities rather than classes."""
    column = table.frame[name]
    numbers = as_numbers(column)
    if str(column.dtype) == "bool" or numbers.count() <= MOST_NUMBERS_OF_TEXT * len(column):
        return False
    if numbers.isna().any():
        return True  # the caller refuses the text among the numbers
    is_whole = bool((numbers % 1 == 0).all())
    return not is_whole or numbers.nunique() > MOST_NUMBERED_CLASSES


def _classes(table: Table, name: str) -> NDArray[Any]:
    labels = as_categories(table.frame[name])
    n_rows, n_classes = len(labels), len(labels.cat.categories)
    if n_classes > n_rows / 2:
        raise InvalidInputError(
            f"the target {name!r} has {n_classes} different values in {n_rows} rows, too many classes or "
            f"too few rows; name another column, or say {setting('task', 'regression')} if they are numbers."
        )
    kinds = labels.cat.categories.to_numpy()
    if kinds.dtype.kind not in "biu":
        kinds = np.array(kinds.tolist(), dtype=np.str_)
    return np.asarray(kinds[labels.cat.codes.to_numpy()])


def encode_target(table: Table, name: str, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the target of other rows as numbers of a model's classes, or as numbers for regression.

    A label that the model does not know is -1.
    """
    check_target(table, name)
    _refuse_missing(table, name)
    column = table.frame[name]
    if classes is None:
        return finite_numbers(table, name).to_numpy()
    known = {str(label): k for k, label in enumerate(classes.tolist())}
    labels = as_categories(column)
    number = np.array([known.get(str(label), -1) for label in labels.cat.categories.tolist()])
    codes = number[labels.cat.codes.to_numpy()]
    if not (codes >= 0).any():
        raise InvalidInputError(
            f"the target {name!r} of {table.file} is never one of the model's classes, which are "
            f"{', '.join(map(repr, classes[:5].tolist()))}; it holds "
            f"{', '.join(map(repr, labels.cat.categories[:5].tolist()))}."
        )
    return np.asarray(codes)
