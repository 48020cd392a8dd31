"""Validation of the parameters of grown trees."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.utils.numbers import at_least_zero

_ANY_DEPTH = np.iinfo(np.int32).max


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Validate an integer from `least` to `most`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and value >= least and (most is None or value <= most):
        return int(value)
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InvalidInputError(f"{name} must be a whole number {bounds}, not {value!r}.")


def positive_rate(learning_rate: Any) -> float:
    """Validate a learning rate: a number above 0."""
    rate = at_least_zero(learning_rate, "learning_rate")
    if rate == 0:
        raise InvalidInputError("learning_rate is 0, so trees would change nothing; give a number above 0.")
    return rate


def tree_limits(estimator: Any) -> tuple[int, int]:
    """Validate an estimator's `max_depth` and `min_samples_leaf`."""
    depth = _ANY_DEPTH if estimator.max_depth is None else whole_number("max_depth", estimator.max_depth, 1)
    return depth, whole_number("min_samples_leaf", estimator.min_samples_leaf, 1)
