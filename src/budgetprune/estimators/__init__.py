"""scikit-learn citizens: an ensemble and a price list in, a model within budget out."""

from budgetprune.estimators.classifier import BudgetPruneClassifier
from budgetprune.estimators.regressor import BudgetPruneRegressor
from budgetprune.selection import TradeOff

__all__ = ["BudgetPruneClassifier", "BudgetPruneRegressor", "TradeOff"]
