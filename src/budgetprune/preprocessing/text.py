"""Text columns of tables, which become categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.raw_columns import is_missing

# Largest share of numbers in a text column. With more, the text is taken for a mistake in a numeric column.
MOST_NUMBERS_OF_TEXT = 0.5


def text_columns(X: Any, *, with_categories: bool = False) -> list[int]:
    """Return the positions of the columns of a table that hold strings.

    Raise if such a column also holds other values, or if most of its strings are numbers. Other rows than
    tables of pandas or polars have no text columns.

    Parameters
    ----------
    X : rows
    with_categories : whether columns of type ``category`` count, if their categories are strings
    """
    if hasattr(X, "get_columns"):
        columns = X.get_columns()
    elif hasattr(X, "iloc"):
        columns = [X.iloc[:, k] for k in range(X.shape[1])]
    else:
        return []
    return [k for k, column in enumerate(columns) if _holds_text(column, with_categories)]


def _holds_text(column: Any, with_categories: bool) -> bool:
    kind = str(column.dtype)
    if kind == "category":
        return with_categories and any(isinstance(label, str) for label in column.cat.categories)
    if kind.startswith(("Categorical", "Enum")):
        return with_categories
    if kind not in ("object", "str", "String") and not kind.startswith("string"):
        return False
    values = [value for value in column.to_list() if not is_missing(value)]
    others = [value for value in values if not isinstance(value, str)]
    if len(others) == len(values):
        return False
    name = column.name
    if others:
        raise InvalidInputError(
            f"column {name!r} of X holds text, but also {others[0]!r} ({len(others)} of {len(values)} "
            "values are no text). Clean it, or convert it to text if it is categorical."
        )
    n_numbers = sum(map(_is_number, values))
    if n_numbers > MOST_NUMBERS_OF_TEXT * len(values):
        number = next(value for value in values if _is_number(value))
        raise InvalidInputError(
            f"column {name!r} of X seems to hold numbers as text ({number!r}, say). Convert it: "
            f"X[{name!r}] = pd.to_numeric(X[{name!r}]); or, if these are categories, convert it to the type "
            "category."
        )
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_category_columns(X: Any, columns: list[int]) -> Any:
    """Return a table in which some columns are categories."""
    names = [X.columns[k] for k in columns]
    if not names:
        return X
    if hasattr(X, "get_columns"):
        import polars as pl

        return X.with_columns(**{name: X[name].cast(pl.Categorical) for name in names})
    # Categories of plain strings, and NaN for missing ones, are read by all libraries.
    plain = {name: X[name].astype(object).where(X[name].notna(), np.nan) for name in names}
    return X.assign(**{name: column.astype("category") for name, column in plain.items()})
