"""Estimators for scikit-learn that prune an ensemble for a budget."""

from budgetprune.estimators.classifier import BudgetPruneClassifier
from budgetprune.estimators.regressor import BudgetPruneRegressor
from budgetprune.selection import TradeOff

__all__ = ["BudgetPruneClassifier", "BudgetPruneRegressor", "TradeOff"]
