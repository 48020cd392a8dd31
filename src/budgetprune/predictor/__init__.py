"""Prediction time: acquire one source at a time, stop when the answer is certain."""

from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.predictor import BudgetPredictor

__all__ = ["BudgetPredictor", "Decision", "Simulation"]
