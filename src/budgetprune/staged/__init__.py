"""Staged models: a row acquires sources in stages, and stops when the next stage is not worth its price."""

from budgetprune.staged.estimators import BudgetClassifier, BudgetRegressor
from budgetprune.staged.learners import has_lightgbm
from budgetprune.staged.model import Chain, LogLoss, SquaredError, StagedModel, StagedTradeOff, StageShares
from budgetprune.staged.prediction import StagedEngine, StagedPredictor
from budgetprune.staged.stopping import effective_thresholds, stopping_stage
from budgetprune.staged.training import LAST_STAGE_FACTOR

__all__ = [
    "LAST_STAGE_FACTOR",
    "BudgetClassifier",
    "BudgetRegressor",
    "Chain",
    "LogLoss",
    "SquaredError",
    "StageShares",
    "StagedEngine",
    "StagedModel",
    "StagedPredictor",
    "StagedTradeOff",
    "effective_thresholds",
    "has_lightgbm",
    "stopping_stage",
]
