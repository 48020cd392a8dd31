"""Encoding of categories as the numbers used in training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError


def numbers_of(known: tuple[Any, ...], other: str | None = None) -> tuple[dict[Any, float], float]:
    """Return the number of each category of a feature, and that of unknown ones.

    Parameters
    ----------
    known : the categories in the order of their numbers
    other : category that stands for unknown ones, if it is among them; see `Forest.other_category`
    """
    number = {category: float(i) for i, category in enumerate(known)}
    if other is None or other not in number:
        return number, np.nan
    return {"": np.nan} | number, number[other]


def encode_table(
    X: Any, name: str, categories: tuple[tuple[Any, ...] | None, ...], other: str | None = None
) -> Any:
    """Replace categories by their numbers in a pandas or polars table, column by column.

    Missing categories become NaN, and so do categories that the model does not know, if it has no other one
    for them. A column that should be numbers but
    is marked as categories is an error: its numbers in training are not known.

    Parameters
    ----------
    X : the table, with one column per feature
    name : name of X in error messages
    categories : of each feature that has any, in the order of their numbers; None for the others
    other : category that stands for unknown ones
    """
    is_polars = hasattr(X, "get_columns")
    columns = X.get_columns() if is_polars else [X.iloc[:, k] for k in range(X.shape[1])]
    numbered = []
    for k, (column, known) in enumerate(zip(columns, categories, strict=True)):
        if known is None:
            if str(column.dtype).startswith(("category", "Categorical", "Enum")):
                raise InvalidInputError(
                    f"column {column.name!r} of {name} holds categories, but the model does not record how "
                    f"they were numbered in training; replace them by those numbers."
                )
            continue
        levels, codes = _polars_levels(column) if is_polars else _pandas_levels(column)
        # Without known categories, all are unknown.
        if (
            known
            and levels
            and {isinstance(level, str) for level in levels}.isdisjoint(
                isinstance(category, str) for category in known
            )
        ):
            raise InvalidInputError(
                f"column {column.name!r} of {name} holds {levels[0]!r}, but its categories in training were "
                f"{', '.join(map(repr, known[:3]))}{', ...' if len(known) > 3 else ''}; use those (an array "
                "instead of a table may hold their numbers)."
            )
        number, unknown = numbers_of(known, other)
        # One extra entry for code -1, a missing value, which scikit-learn may have numbered as None.
        numbers = np.array([*(number.get(level, unknown) for level in levels), number.get(None, np.nan)])
        numbered.append((k, numbers[codes]))
    if is_polars:
        return X.with_columns(**{X.columns[k]: column for k, column in numbered})
    table = X.copy(deep=False)
    for k, column in numbered:
        table.isetitem(k, column)
    return table


def _pandas_levels(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """Distinct values of a pandas column, and the index of each row's value, -1 if missing."""
    if str(column.dtype) != "category":
        column = column.astype("category")
    return column.cat.categories.tolist(), column.cat.codes.to_numpy()


def _polars_levels(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """Distinct values and indices of a polars column."""
    if not column.dtype.is_numeric() and str(column.dtype) != "Boolean":
        column = column.cast(str)
    levels = column.drop_nulls().unique(maintain_order=True).to_list()
    if not levels:
        return [], np.full(len(column), -1)
    codes = column.replace_strict(levels, range(len(levels)), default=-1, return_dtype=int)
    return levels, codes.to_numpy()
