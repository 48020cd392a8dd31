"""Staged models: the best model for a budget, which stops when more information is not worth its price."""

from budgetprune.staged._classifier import BudgetClassifier
from budgetprune.staged._model import StageShares
from budgetprune.staged._points import StagedTradeOff
from budgetprune.staged._predictor import StagedPredictor
from budgetprune.staged._regressor import BudgetRegressor

__all__ = ["BudgetClassifier", "BudgetRegressor", "StageShares", "StagedPredictor", "StagedTradeOff"]
