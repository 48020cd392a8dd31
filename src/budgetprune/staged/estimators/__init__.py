"""`BudgetClassifier` and `BudgetRegressor`."""

from budgetprune.staged.estimators.classifier import BudgetClassifier
from budgetprune.staged.estimators.regressor import BudgetRegressor

__all__ = ["BudgetClassifier", "BudgetRegressor"]
