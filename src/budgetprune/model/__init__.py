"""What a person keeps: the model for a budget, the path it was chosen from, and how it came about."""

from budgetprune.model.about import About, Compared, Figures
from budgetprune.model.model import BudgetModel

__all__ = ["About", "BudgetModel", "Compared", "Figures"]
