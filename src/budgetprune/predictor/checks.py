"""Validation of predictor settings."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from budgetprune.errors import InvalidInputError

# Each level doubles the number of nodes that each tree visits.
MAX_LOOK_AHEAD = 6


def check_number(name: str, value: Any) -> float:
    """Return a setting as a number, or raise InvalidInputError."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInputError(f"{name} must be a number, not {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} is too large.") from None


def check_max_cost(max_cost: Any) -> float | None:
    """Return the largest cost of an example; None: no limit."""
    if max_cost is None:
        return None
    cost_limit = check_number("max_cost", max_cost)
    if not cost_limit >= 0:
        raise InvalidInputError(f"max_cost must not be negative or NaN, but is {max_cost!r}.")
    return None if cost_limit == float("inf") else cost_limit


def check_on_error(on_error: Any) -> None:
    """Check the setting for failed sources."""
    if on_error not in ("raise", "skip"):
        raise InvalidInputError(f"on_error must be 'raise' or 'skip', not {on_error!r}.")


def check_look_ahead(look_ahead: Any) -> int:
    """Return the number of unknown splits that trees look past."""
    is_whole = isinstance(look_ahead, Integral) and not isinstance(look_ahead, bool)
    if not is_whole or not 0 <= int(look_ahead) <= MAX_LOOK_AHEAD:
        raise InvalidInputError(
            f"look_ahead must be a whole number from 0 to {MAX_LOOK_AHEAD}, not {look_ahead!r}."
        )
    return int(look_ahead)
