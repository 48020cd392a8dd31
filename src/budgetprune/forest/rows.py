"""Validation of X and conversion to the array that kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.categories import encode_table
from budgetprune.forest.names import are_stored_names
from budgetprune.utils.arrays import frozen
from budgetprune.utils.data_frames import as_data_frame


def as_rows(
    X: Any,
    name: str,
    *,
    n_features: int,
    feature_names: tuple[str, ...] | None,
    dtype: np.dtype[Any],
    allow_nan: bool,
    categories: tuple[tuple[Any, ...] | None, ...] | None = None,
    other_category: str | None = None,
    absent: float = 0.0,
) -> NDArray[Any]:
    """Validate `X` and return it as a C-contiguous array in the precision of the model's comparisons.

    Parameters
    ----------
    X : numpy array, table of pandas, polars or Arrow, sparse matrix or nested lists, (n_rows, n_features)
    name : name of X in error messages
    n_features, feature_names, dtype, allow_nan : what the model expects
    categories : of each feature that has any, in the order of their numbers
        Columns of a table hold categories; anything else holds their numbers. An unknown category becomes
        a missing value.
    other_category : category that stands for unknown ones; see `Forest`
    absent : value of entries that a sparse matrix does not store
    """
    X = as_data_frame(X, name)
    columns = _column_names(X)
    if columns is not None and feature_names is not None:
        _check_names(columns, feature_names, name)
    if categories is not None and len(getattr(X, "columns", ())) == len(categories):
        X = encode_table(X, name, categories, other_category)
    rows = _as_numbers(X, name, dtype, absent)
    if rows.ndim != 2:
        raise InvalidInputError(
            f"{name} must be a table (rows x features), but has {rows.ndim} dimension(s)."
        )
    if rows.shape[1] != n_features:
        raise InvalidInputError(
            f"{name} has {rows.shape[1]} feature(s), but the forest expects {n_features}."
        )
    if rows.shape[0] == 0:
        raise InvalidInputError(f"{name} has no rows.")
    _check_finite(rows, name, feature_names, allow_nan)
    # Always read-only, even if the caller's array is not: kernels are compiled once per type of array.
    return frozen(rows.view())


def _column_names(X: Any) -> tuple[str, ...] | None:
    """Column names if X is a table whose columns are all named by strings."""
    columns = tuple(getattr(X, "columns", ()))
    return columns if columns and all(isinstance(column, str) for column in columns) else None


def _check_names(columns: tuple[str, ...], expected: tuple[str, ...], name: str) -> None:
    if are_stored_names(expected, columns):
        return
    unknown = sorted(set(columns) - set(expected))
    absent = sorted(set(expected) - set(columns))
    if not unknown and not absent and len(columns) == len(expected):
        raise InvalidInputError(
            f"{name} has the features of the forest in another order; reorder its columns: "
            f"{name}[list(forest.feature_names)]."
        )
    problems = [
        f"{what} {', '.join(repr(feature) for feature in features[:5])}{', ...' if len(features) > 5 else ''}"
        for what, features in (("unknown are", unknown), ("missing are", absent))
        if features
    ]
    raise InvalidInputError(
        f"the columns of {name} do not have the names that the forest was trained with: "
        f"{'; '.join(problems) or 'some names occur more than once'}."
    )


def _as_numbers(X: Any, name: str, dtype: np.dtype[Any], absent: float) -> NDArray[Any]:
    """Densify, convert missing values of tables to NaN, and round to the model's precision."""
    try:
        if hasattr(X, "toarray"):
            X = X.toarray() if absent == 0 else _filled(X, absent)
        elif hasattr(X, "get_columns"):
            X = _from_polars(X)
        elif hasattr(X, "iloc") and not _is_plain(X):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
        X = np.asarray(X)
        if X.dtype.kind not in "fiubO":
            raise TypeError(f"its type is {X.dtype}")
        # A number beyond the range of the narrower type becomes an infinity, which the next check reports.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(X, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} must hold numbers only ({error}); encode text, dates and categories as in training."
        ) from error


def _filled(matrix: Any, absent: float) -> NDArray[np.float64]:
    """Densify a sparse matrix; stored zeros stay zeros, entries not stored become `absent`."""
    stored = matrix.tocoo()
    stored.sum_duplicates()
    rows = np.full(stored.shape, absent)
    rows[stored.row, stored.col] = stored.data
    return rows


def _from_polars(table: Any) -> NDArray[np.float64]:
    """Convert nulls to NaN; reject strings first, since a cast would parse them as numbers."""
    for column in table.get_columns():
        if not (column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Null")):
            raise TypeError(f"column {column.name!r} is {column.dtype}")
    rows: NDArray[np.float64] = table.cast(float).to_numpy()
    return rows


def _is_plain(table: Any) -> bool:
    """Whether all columns of a pandas table are numpy columns, with NaN as the only missing value."""
    return all(isinstance(dtype, np.dtype) for dtype in np.atleast_1d(table.dtypes))


def _check_finite(
    rows: NDArray[Any], name: str, feature_names: tuple[str, ...] | None, allow_nan: bool
) -> None:
    # A finite sum implies finite terms, and needs no mask of the size of the rows.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.sum(rows, dtype=np.float64)):
            return
    too_large = np.isinf(rows), f"an infinity or a number too large for {rows.dtype}", "clip or rescale it"
    absent = np.isnan(rows), "a missing value (NaN)", "this forest cannot route it: impute it as in training"
    for is_bad, what, advice in [too_large] if allow_nan else [too_large, absent]:
        if is_bad.any():
            row, k = np.argwhere(is_bad)[0]
            feature = k if feature_names is None else repr(feature_names[k])
            raise InvalidInputError(
                f"{name} has {what} in row {row}, feature {feature} ({is_bad.sum()} in all); {advice}."
            )
