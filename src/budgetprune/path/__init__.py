"""All optimal prunings of a problem, from the unpruned forest to a single leaf per tree."""

from budgetprune.path import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.path.budgets import ROUNDING, check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.path.decided import DecidedCosts
from budgetprune.path.path import ARRAYS, PruningPath, breakpoints

__all__ = [
    "ARRAYS",
    "ROUNDING",
    "DecidedCosts",
    "PruningPath",
    "breakpoints",
    "check_budget",
    "first_within",
    "warn_that_budget_buys_nothing",
]
