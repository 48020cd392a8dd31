"""Features of a table, and conversion of rows to an array in which categories are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import as_rows
from budgetprune.preprocessing import as_category_columns, text_columns

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

    Columns of type ``category`` (polars: Categorical, Enum) are categorical, and so are text columns.
    """
    X = as_category_columns(X, text_columns(X))
    if hasattr(X, "get_columns"):
        found = [_polars_categories(column) for column in X.get_columns()]
    elif hasattr(X, "iloc"):
        found = [_pandas_categories(X.iloc[:, k]) for k in range(X.shape[1])]
    else:
        found = [None] * X.shape[1]
    has_any = any(each is not None for each in found)
    return FeatureSchema(len(found), names, tuple(found) if has_any else None)


def _pandas_categories(column: Any) -> tuple[Any, ...] | None:
    return tuple(column.cat.categories.tolist()) if str(column.dtype) == "category" else None


def _polars_categories(column: Any) -> tuple[Any, ...] | None:
    if not str(column.dtype).startswith(("Categorical", "Enum")):
        return None
    return tuple(sorted(column.cast(str).drop_nulls().unique().to_list()))
