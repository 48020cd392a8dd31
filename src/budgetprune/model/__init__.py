"""Saved models: the predictor for a budget, its pruning path and its metadata."""

from budgetprune.model import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.model.about import About, Compared, Figures
from budgetprune.model.model import BudgetModel

__all__ = ["About", "BudgetModel", "Compared", "Figures"]
