"""Budgets: validation, the point of a path within a budget, and the warning if a budget is too small."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.problem import Pruning

# Costs that differ by less than this fraction are equal with respect to a budget.
ROUNDING = 1e-9


def check_budget(budget: Any) -> float:
    """Return the budget as a number, increased by `ROUNDING` because averages of costs are rounded."""
    try:
        amount = np.nan if isinstance(budget, str) else float(budget)
    except (TypeError, ValueError):
        amount = np.nan
    if not amount >= 0:
        raise InvalidInputError(f"budget must be a number of at least 0, not {budget!r}.")
    return amount * (1 + ROUNDING)


def first_within(cost: NDArray[np.float64], amount: float) -> int:
    """Index of the most expensive point that costs at most `amount`, or of the cheapest point.

    `cost` must not increase along the path.
    """
    return min(int(np.searchsorted(-cost, -amount)), cost.size - 1)


def warn_that_budget_buys_nothing(amount: float, needed: float, pruning: Pruning, *, stacklevel: int) -> None:
    """Warn, and name the smallest budget that is large enough for a split."""
    warnings.warn(
        f"a budget of {amount:.6g} buys nothing: the first pruning that is worth its cost has an "
        f"average cost of {needed:.6g}. This one costs {pruning.cost:.6g} and keeps "
        f"{pruning.n_splits} split(s). An ensemble that is trained without the features "
        "that cost more than the budget usually has cheaper ones; so may another error estimate.",
        BudgetWarning,
        stacklevel=stacklevel,
    )
