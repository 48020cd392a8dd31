"""The option --error-cost of ``budgetprune fit``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from budgetprune.costs.price_lists import listed
from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables import Target


def error_costs(words: Sequence[str] | None, target: Target) -> Any:
    """Parse error costs for `BudgetClassifier` and `BudgetRegressor`; None if not given.

    Parameters
    ----------
    words : ``NUMBER`` for all errors, ``CLASS=NUMBER`` for rows of one class
    target : Target
    """
    if not words:
        return None
    everywhere, by_name = _split_prices(words)
    if not any([everywhere, *by_name.values()]):
        raise InvalidInputError("--error-cost: at least one kind of error must cost more than 0.")
    if target.task == "regression":
        if by_name:
            raise InvalidInputError(
                f"--error-cost {words[0]}: the target holds numbers, not classes; give one number, the price "
                "of a unit of squared error."
            )
        return everywhere
    names = {str(label): label for label in np.unique(target.y).tolist()}
    if unknown := [name for name in by_name if name not in names]:
        raise InvalidInputError(
            f"--error-cost is for the class {unknown[0]!r}, which the target does not have; its classes are "
            f"{listed(map(repr, names))}."
        )
    if not by_name:
        return everywhere
    without = [name for name in names if name not in by_name]
    if without and everywhere is None:
        raise InvalidInputError(
            f"--error-cost says nothing about the class {without[0]!r}; add --error-cost "
            f"{without[0]}=NUMBER, or --error-cost NUMBER for all other classes."
        )
    return {label: by_name.get(name, everywhere) for name, label in names.items()}


def _split_prices(words: Sequence[str]) -> tuple[float | None, dict[str, float]]:
    everywhere: float | None = None
    by_name: dict[str, float] = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            price = math.nan
        if not (math.isfinite(price) and price >= 0):
            raise InvalidInputError(
                f"--error-cost {word}: must be NUMBER or CLASS=NUMBER, with a number of at least 0."
            )
        if name in by_name or (not equals and everywhere is not None):
            raise InvalidInputError(f"--error-cost {word}: there is another price for the same errors.")
        if equals:
            by_name[name] = price
        else:
            everywhere = price
    return everywhere, by_name
