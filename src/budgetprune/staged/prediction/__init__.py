"""Prediction with a staged model, one example or many rows."""

from budgetprune.staged.prediction.engine import StagedEngine
from budgetprune.staged.prediction.predictor import StagedPredictor

__all__ = ["StagedEngine", "StagedPredictor"]
