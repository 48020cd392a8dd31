"""Settings that make sense, or a clear error."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from budgetprune.errors import InvalidInputError

# Each level doubles what every tree looks at.
MOST_AHEAD = 6


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


def check_on_error(on_error: Any) -> None:
    """Check what happens if a source fails."""
    if on_error not in ("raise", "skip"):
        raise InvalidInputError(f"on_error must be 'raise' or 'skip', not {on_error!r}.")


def check_look_ahead(look_ahead: Any) -> int:
    """How many unknown splits trees look past."""
    is_whole = isinstance(look_ahead, Integral) and not isinstance(look_ahead, bool)
    if not is_whole or not 0 <= int(look_ahead) <= MOST_AHEAD:
        raise InvalidInputError(
            f"look_ahead must be a whole number from 0 to {MOST_AHEAD}, not {look_ahead!r}."
        )
    return int(look_ahead)
