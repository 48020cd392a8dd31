"""Features of a table, and conversion of rows to an array in which categories are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import as_rows

Categories = tuple[tuple[Any, ...] | None, ...]


@dataclass(frozen=True, eq=False)
class FeatureSchema:
    """Features of a table: their number, their names, and the categories of categorical ones.

    Attributes
    ----------
    n_features : int
    names : tuple of str, or None
    categories : tuple with an entry per feature, or None if no feature has categories
    """

    n_features: int
    names: tuple[str, ...] | None
    categories: Categories | None

    def read(self, X: Any) -> NDArray[np.float64]:
        """Convert rows of any accepted type to an array; unknown categories become missing values."""
        return as_rows(
            X,
            "X",
            n_features=self.n_features,
            feature_names=self.names,
            dtype=np.dtype(np.float64),
            allow_nan=True,
            categories=self.categories,
        )

    def is_categorical(self, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each of the given columns is categorical."""
        if self.categories is None:
            return np.zeros(columns.size, dtype=np.bool_)
        return np.array([self.categories[k] is not None for k in columns.tolist()], dtype=np.bool_)


def columns_of(X: Any, names: tuple[str, ...] | None) -> FeatureSchema:
    """Describe the features of a table.

    Columns of type ``category`` (polars: Categorical, Enum) are categorical.
    """
    _refuse_text(X)
    if hasattr(X, "get_columns"):
        found = [_polars_categories(column) for column in X.get_columns()]
    elif hasattr(X, "iloc"):
        found = [_pandas_categories(X.iloc[:, k]) for k in range(X.shape[1])]
    else:
        found = [None] * X.shape[1]
    has_any = any(each is not None for each in found)
    return FeatureSchema(len(found), names, tuple(found) if has_any else None)


def _refuse_text(X: Any) -> None:
    """Raise if a column holds strings: the user has to declare which columns are categorical."""
    if hasattr(X, "get_columns"):
        text = [column.name for column in X.get_columns() if str(column.dtype) == "String"]
        advice = "X.with_columns(pl.col({name!r}).cast(pl.Categorical))"
    elif hasattr(X, "iloc"):
        columns = ((name, X.iloc[:, k]) for k, name in enumerate(X.columns))
        text = [name for name, column in columns if _holds_text(column)]
        advice = "X[{name!r}] = X[{name!r}].astype('category')"
    else:
        return
    if text:
        how = advice.format(name=text[0])
        raise InvalidInputError(
            f"column {text[0]!r} of X holds text. If it is categorical, convert it: {how}; if not, drop it."
        )


def _holds_text(column: Any) -> bool:
    if str(column.dtype) not in ("object", "str", "string") and not str(column.dtype).startswith("string["):
        return False
    return any(isinstance(value, str) for value in column.dropna().head(100))


def _pandas_categories(column: Any) -> tuple[Any, ...] | None:
    return tuple(column.cat.categories.tolist()) if str(column.dtype) == "category" else None


def _polars_categories(column: Any) -> tuple[Any, ...] | None:
    if not str(column.dtype).startswith(("Categorical", "Enum")):
        return None
    return tuple(sorted(column.cast(str).drop_nulls().unique().to_list()))
