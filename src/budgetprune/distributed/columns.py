"""Columns of a table that a problem reads: features, target and weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.distributed.tables import Rows, kind_of
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest


class Part(NamedTuple):
    """Some rows, as the kernels take them.

    Attributes
    ----------
    name : name of the rows in messages
    X : array of shape (n_rows, n_features), as `Forest.prepare_rows` returns it
    target : array or None
        Values of the target column.
    weight : float64 array of shape (n_rows,)
    """

    name: str
    X: NDArray[Any]
    target: NDArray[Any] | None
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are read.

    Attributes
    ----------
    features : tuple of (str, int)
        Column and number of each feature that some split tests.
    target, weight : str or None
    """

    features: tuple[tuple[str, int], ...]
    target: str | None
    weight: str | None

    @classmethod
    def find(cls, rows: Rows, forest: Forest, target: str | None, weight: str | None) -> Columns:
        """Find the features of a forest in a table; raise if there are none, or of another type."""
        schema = rows.schema
        for option, name in (("target", target), ("weight", weight)):
            if name is not None and name not in schema.names:
                raise InvalidInputError(
                    f"{option}={name!r} is not a column of {rows!r}: {_some(schema.names)}."
                )
        others = [name for name in schema.names if name not in (target, weight)]
        tested = forest.used_features.tolist()
        if forest.feature_names is None:
            if len(others) != forest.n_features:
                raise InvalidInputError(
                    f"{rows!r} has {len(others)} columns of features, but the forest expects "
                    f"{forest.n_features} and has no names for them; name the target and the weight, and "
                    "leave other columns out."
                )
            names: list[str] = others
        else:
            names = list(forest.feature_names)
            absent = [names[k] for k in tested if names[k] not in others]
            if absent:
                raise InvalidInputError(f"{rows!r} has no column {_some(absent)}, which the forest needs.")
        known = forest.feature_categories
        for k in tested:
            dtype = schema.field(names[k]).type
            if kind_of(dtype) != "number" and known[k] is None:
                raise InvalidInputError(
                    f"column {names[k]!r} of {rows!r} must hold numbers, but its type is {dtype}; "
                    "encode text, dates and categories as in training."
                )
        return cls(tuple((names[k], k) for k in tested), target, weight)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        others = [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys([*(name for name, _ in self.features), *others]))

    def read(self, rows: Rows, forest: Forest, first: int, last: int, most: int) -> Iterator[Part]:
        """Yield the rows from `first` to `last`, at most `most` at once."""
        for name, table in rows.read(first, last, self.names, most):
            X = forest.prepare_rows(self.features_of(forest, table), name)
            yield Part(name, X, self.target_of(table), self.weight_of(table, name))

    def features_of(self, forest: Forest, table: Any) -> Any:
        """Features as a numeric array, or as a data frame if some are categories."""
        filler = 0.0 if forest.missing == "forbidden" else np.nan
        if any(each is not None for each in forest.feature_categories):
            import pandas as pd

            frame = table.select([name for name, _ in self.features]).to_pandas()
            given = {k: frame[name] for name, k in self.features}
            columns = {name: given.get(k, filler) for k, name in enumerate(forest.names)}
            return pd.DataFrame(columns, index=frame.index)
        X = np.full((table.num_rows, forest.n_features), filler, dtype=forest.input_dtype)
        with np.errstate(over="ignore"):  # infinities are reported
            for name, k in self.features:
                X[:, k] = as_numbers(table.column(name))
        return X

    def target_of(self, table: Any) -> NDArray[Any] | None:
        """Values of the target column."""
        if self.target is None:
            return None
        column = table.column(self.target)
        if column.null_count:
            raise InvalidInputError(
                f"the target column {self.target!r} has missing values; remove these rows."
            )
        if kind_of(column.type) == "number":
            return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False))
        return np.asarray(column.to_pylist(), dtype=object)

    def weight_of(self, table: Any, name: str) -> NDArray[np.float64]:
        """Weights of the rows: 1 without a weight column."""
        if self.weight is None:
            return np.ones(table.num_rows)
        weight = as_numbers(table.column(self.weight))
        if not np.all((weight >= 0) & np.isfinite(weight)):
            raise InvalidInputError(
                f"the weight column {self.weight!r} has a negative or missing weight in {name}."
            )
        return weight


def as_numbers(column: Any) -> NDArray[np.float64]:
    """Convert a column to floats; missing values become NaN."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(), dtype=np.float64 if column.type != pa.float32() else None)


def _some(names: list[str]) -> str:
    return f"{', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
