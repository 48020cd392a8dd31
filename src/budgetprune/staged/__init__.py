"""Staged models: a row acquires sources in stages, and stops when the next stage is not worth its price."""

from budgetprune.staged.estimators import BudgetClassifier, BudgetRegressor
from budgetprune.staged.model import StagedTradeOff, StageShares
from budgetprune.staged.prediction import StagedPredictor

__all__ = ["BudgetClassifier", "BudgetRegressor", "StageShares", "StagedPredictor", "StagedTradeOff"]
