"""Settings that make sense, or a clear error."""

from __future__ import annotations

from numbers import Real
from typing import Any

from budgetprune.errors import InvalidInputError


def check_number(name: str, value: Any) -> float:
    """A setting as a number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInputError(f"{name} must be a number, not {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} is too large.") from None


def check_max_cost(max_cost: Any) -> float | None:
    """What one example may cost; None for all."""
    if max_cost is None:
        return None
    money = check_number("max_cost", max_cost)
    if not money >= 0:
        raise InvalidInputError(f"max_cost must not be negative or NaN, but is {max_cost!r}.")
    return None if money == float("inf") else money
