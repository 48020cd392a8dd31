"""Parsing of the option --class-weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from budgetprune.errors import InvalidInputError

BALANCED = "balanced"


def parse_class_weight(values: Sequence[str] | None) -> Any:
    """Parse class weights; None if not given.

    Parameters
    ----------
    values : ``balanced``, or ``CLASS=WEIGHT`` for each class whose weight is not 1
    """
    if not values:
        return None
    if BALANCED in values:
        if len(values) > 1:
            raise InvalidInputError(
                "--class-weight balanced is for all classes; leave the other weights out, or this one."
            )
        return BALANCED
    found: dict[str, float] = {}
    for value in values:
        name, equals, number = value.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not equals or not 0 <= weight < math.inf:
            raise InvalidInputError(
                f"--class-weight {value}: must be balanced, or CLASS=WEIGHT with a number of at least 0."
            )
        if name in found:
            raise InvalidInputError(
                f"--class-weight {value}: the class {name!r} has two weights; leave one out."
            )
        found[name] = weight
    return found
