"""Reading of raw columns: from tables of any kind, and single values."""

from __future__ import annotations

import datetime
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError

Column = NDArray[Any]


def read_columns(
    X: Any, names: tuple[str, ...], has_names: bool, needed: NDArray[np.bool_], holds_objects: list[bool]
) -> list[Column | None]:
    """Return the needed columns of a table as arrays, None for the others.

    Parameters
    ----------
    X : table of pandas or polars, array, sparse matrix or nested lists
        Columns of a table are found by their names, if the preprocessing was fitted on named columns. Others
        are ignored.
    names : names of the columns
    has_names : whether these are the user's names; else columns are found by their positions
    needed : which columns are needed
    holds_objects : which columns may hold strings
    """
    if has_names and hasattr(X, "columns"):
        columns = {str(name): k for k, name in enumerate(X.columns)}
        absent = [
            repr(name)
            for name, is_needed in zip(names, needed, strict=True)
            if is_needed and name not in columns
        ]
        if absent:
            raise InvalidInputError(f"X lacks the columns {join_first(absent)}, which the model needs.")
        places = [columns.get(name, -1) for name in names]
    else:
        if hasattr(X, "toarray"):
            X = X.toarray()
        elif not hasattr(X, "columns"):
            X = _as_array(X)
        if len(X.shape) != 2 or X.shape[1] != len(names):
            raise InvalidInputError(
                f"X must be a table of {len(names)} columns, but its shape is {tuple(X.shape)}."
            )
        places = list(range(len(names)))
    if not X.shape[0]:
        raise InvalidInputError("X has no rows.")
    found: list[Column | None] = []
    for name, place, is_needed, is_object in zip(names, places, needed, holds_objects, strict=True):
        column = _column(X, place) if is_needed else None
        if column is None:
            found.append(None)
        else:
            found.append(as_objects(column) if is_object else as_numbers(column, name))
    return found


def _as_array(X: Any) -> NDArray[Any]:
    """Convert nested lists without turning numbers into strings."""
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" and not hasattr(X, "dtype") else array


def _column(X: Any, place: int) -> Any:
    if hasattr(X, "get_columns"):
        return X[:, place]
    return X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]


def as_objects(column: Any) -> Column:
    """Return a column as plain objects, with None for missing values."""
    values = column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()
    found = np.empty(len(values), dtype=object)
    found[:] = [plain_value(value) for value in values]
    return found


def as_numbers(column: Any, name: str) -> Column:
    """Return a column as float64, with NaN for missing values; raise if it holds anything else."""
    kind = str(getattr(column, "dtype", ""))
    is_text = kind.startswith(("string", "str", "String", "Utf8", "Categorical", "Enum", "<U"))
    try:
        if is_text or "date" in kind.lower():
            raise TypeError(f"its type is {kind}")
        if hasattr(column, "to_numpy") and hasattr(column, "iloc"):
            if kind in ("category", "object"):
                return _numbers_of(column.astype(object).to_list())
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if hasattr(column, "to_numpy"):  # polars
            return np.asarray(column.cast(float).to_numpy(), dtype=np.float64)
        array = np.asarray(column)
        if array.dtype == object:
            return _numbers_of(array.tolist())
        if array.dtype.kind not in "fiub":
            raise TypeError(f"its type is {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"column {name!r} of X must hold numbers ({error}), because the preprocessing computes with it."
        ) from error


def _numbers_of(values: list[Any]) -> Column:
    for value in values:
        if isinstance(value, str | bytes | datetime.date | datetime.timedelta):
            raise TypeError(f"it holds {value!r}")
    return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)


def plain_value(value: Any) -> Any:
    """Return a value without numpy's types, None if it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if is_missing(value) else value


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    if value is None or (isinstance(value, float | np.floating) and value != value):
        return True
    pandas = sys.modules.get("pandas")  # a caller who passes NA or NaT has imported it
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)
