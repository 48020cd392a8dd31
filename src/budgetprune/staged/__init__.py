"""Staged models: the best model for a budget, which stops when more information is not worth its price."""

from budgetprune.staged.classifier import BudgetClassifier
from budgetprune.staged.model import StageShares
from budgetprune.staged.points import StagedTradeOff
from budgetprune.staged.predictor import StagedPredictor
from budgetprune.staged.regressor import BudgetRegressor

__all__ = ["BudgetClassifier", "BudgetRegressor", "StageShares", "StagedPredictor", "StagedTradeOff"]
