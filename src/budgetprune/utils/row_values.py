"""Validation of values that are given one per row: numbers and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError


def as_weights(weight: Any, n_rows: int, name: str) -> NDArray[np.float64]:
    """Return one weight per row; None means that all rows count the same."""
    if weight is None:
        return np.ones(n_rows)
    weights = as_numbers(weight, n_rows, name)
    if (weights < 0).any():
        raise InvalidInputError(f"{name} is negative in row {np.flatnonzero(weights < 0)[0]}.")
    if not weights.any():
        raise InvalidInputError(f"{name} is 0 in all rows; at least one row must count.")
    if weights.max() > np.finfo(np.float64).max / n_rows:
        raise InvalidInputError(f"{name} is too large to add up; give it a smaller scale.")
    return weights


def as_numbers(values: Any, n_rows: int, name: str) -> NDArray[np.float64]:
    """Return one finite number per row."""
    try:
        numbers = one_per_row(values, n_rows, name).astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{name} must hold numbers ({error}).") from error
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise InvalidInputError(
            f"{name} is {numbers[bad[0]]} in row {bad[0]}; drop such rows, or repair them."
        )
    return numbers


def one_per_row(values: Any, n_rows: int, name: str) -> NDArray[Any]:
    """Return one entry per row, of any type."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InvalidInputError(
            f"{name} must have one entry for each of the {n_rows} rows, but its shape is {array.shape}."
        )
    return array
