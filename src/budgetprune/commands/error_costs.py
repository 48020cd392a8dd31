"""Parsing of the option --error-cost of ``budgetprune fit``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.workflow import ErrorCosts


def parse_error_costs(values: Sequence[str] | None) -> ErrorCosts | None:
    """Parse error costs; None if not given.

    Parameters
    ----------
    values : ``NUMBER`` for all errors, ``CLASS=NUMBER`` for rows of one class
    """
    if not values:
        return None
    from budgetprune.workflow import ErrorCosts

    others: float | None = None
    by_class: dict[str, float] = {}
    for value in values:
        name, equals, number = value.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            price = math.nan
        if not (math.isfinite(price) and price >= 0):
            raise InvalidInputError(
                f"--error-cost {value}: must be NUMBER or CLASS=NUMBER, with a number of at least 0."
            )
        if name in by_class or (not equals and others is not None):
            raise InvalidInputError(f"--error-cost {value}: the same errors have two costs; leave one out.")
        if equals:
            by_class[name] = price
        else:
            others = price
    return ErrorCosts(by_class, others)
