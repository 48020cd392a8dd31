"""scikit-learn citizens: an ensemble and a price list in, a model within budget out."""

from budgetprune.estimators._classifier import BudgetPruneClassifier
from budgetprune.estimators._regressor import BudgetPruneRegressor
from budgetprune.estimators._tradeoff import TradeOff

__all__ = ["BudgetPruneClassifier", "BudgetPruneRegressor", "TradeOff"]
