"""Checks of estimator parameters that pruned models and baselines share."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.problem.checks import at_least_zero


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
