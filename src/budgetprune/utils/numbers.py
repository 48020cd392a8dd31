"""Validation of numbers and options that users pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError


def at_least_zero(value: Any, name: str) -> float:
    """Return one finite number of at least 0."""
    try:
        number = np.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not 0 <= number < np.inf:
        raise InvalidInputError(f"{name} must be a finite number of at least 0, not {value!r}.")
    return number


def all_at_least_zero(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a list of finite numbers of at least 0."""
    return np.array([at_least_zero(value, name) for value in np.ravel(values)], dtype=np.float64)


def check_budget_parameter(budget: Any) -> None:
    """Raise unless `budget` is None or a number of at least 0, possibly infinite."""
    is_infinite = isinstance(budget, float | np.floating) and budget == np.inf
    if budget is not None and not is_infinite:
        at_least_zero(budget, "budget")


def between_zero_and_one(name: str, value: Any, *, ends: bool) -> None:
    """Raise unless `value` is a number between 0 and 1; `ends` tells whether 0 and 1 are valid."""
    try:
        is_between = 0 <= value <= 1 if ends else 0 < value < 1
    except TypeError:
        is_between = False
    if not is_between:
        raise InvalidInputError(f"{name} must be a number between 0 and 1, not {value!r}.")


def one_of(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise unless `value` is one of the options."""
    if not any(value is option or (isinstance(value, str) and value == option) for option in options):
        raise InvalidInputError(f"{name}={value!r} is unknown; use {', '.join(map(repr, options))}.")
