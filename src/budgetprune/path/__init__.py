"""All optimal prunings of a problem, from the unpruned forest to a single leaf per tree."""

from budgetprune.path.path import (
    ARRAYS,
    ROUNDING,
    PruningPath,
    breakpoints,
    check_budget,
    first_within,
    warn_that_budget_buys_nothing,
)

__all__ = [
    "ARRAYS",
    "ROUNDING",
    "PruningPath",
    "breakpoints",
    "check_budget",
    "first_within",
    "warn_that_budget_buys_nothing",
]
