"""`External`: a fitted transformer that is called as it is, because no plain operation does the same."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.preprocessing.operations import Column, Operation


@dataclass(frozen=True, eq=False)
class External(Operation):
    """Transformer of another library.

    It always gets all its inputs. For an output that needs only some of them, the others are taken from a
    row of the training data, and have no influence.

    Attributes
    ----------
    inputs : the columns
    step : name of the step, for messages
    transformer : fitted transformer
    size : number of outputs
    needs : for each output, positions of the inputs that it depends on
    template : one value for each input; empty if each output needs all inputs
    is_flat : whether the transformer takes its only column as a one-dimensional array
    """

    kind = "external"
    inputs: tuple[int, ...]
    step: str
    transformer: Any
    size: int
    needs: tuple[tuple[int, ...], ...]
    template: tuple[Any, ...] = ()
    is_flat: bool = False

    @property
    def n_outputs(self) -> int:
        return self.size

    @property
    def output_needs(self) -> list[Sequence[int]]:
        return list(self.needs)

    def apply(self, columns: Sequence[Column | None]) -> list[Column | None]:
        """Compute the outputs; None is an unknown column."""
        is_known = [column is not None for column in columns]
        is_output_known = [all(is_known[k] for k in positions) for positions in self.needs]
        known = next((column for column in columns if column is not None), None)
        if known is None or not any(is_output_known):
            return [None] * self.size
        filled = [
            np.full(len(known), self.template[k], dtype=object if isinstance(self.template[k], str) else None)
            if column is None
            else column
            for k, column in enumerate(columns)
        ]
        outputs = self.call(filled)
        return [column if ok else None for column, ok in zip(outputs, is_output_known, strict=True)]

    def call(self, columns: Sequence[Column]) -> list[Column]:
        """Call the transformer."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return split_columns(
                self.transformer.transform(as_input(self.transformer, columns, self.is_flat))
            )


def as_input(transformer: Any, columns: Sequence[Column], is_flat: bool) -> Any:
    """Join columns to the form that a transformer was fitted on."""
    given = [_with_nan(column) for column in columns]
    if is_flat:
        return given[0]
    names = getattr(transformer, "feature_names_in_", None)
    if names is not None:
        import pandas as pd

        return pd.DataFrame(dict(zip(names, given, strict=True)))
    if any(column.dtype == object for column in given):
        table = np.empty((len(given[0]), len(given)), dtype=object)
        for k, column in enumerate(given):
            table[:, k] = column
        return table
    return np.column_stack(given)


def _with_nan(column: Column) -> Column:
    """Return objects with NaN for missing values, which transformers expect."""
    if column.dtype != object:
        return column
    found = column.copy()
    found[np.array([value is None for value in column.tolist()], dtype=np.bool_)] = np.nan
    return found


def split_columns(table: Any) -> list[NDArray[Any]]:
    """Return the columns of what a transformer returns."""
    if hasattr(table, "toarray"):
        table = table.toarray()
    array = np.asarray(table)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.dtype == object or array.dtype.kind in "US":
        return [_objects_or_numbers(array[:, k]) for k in range(array.shape[1])]
    return [np.asarray(array[:, k], dtype=np.float64) for k in range(array.shape[1])]


def _objects_or_numbers(column: NDArray[Any]) -> NDArray[Any]:
    values = column.tolist()
    if any(isinstance(value, str) for value in values):
        found = np.empty(len(values), dtype=object)
        found[:] = [None if value is None or value != value else value for value in values]
        return found
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
