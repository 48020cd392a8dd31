"""Prediction time: acquire one source at a time, stop when the answer is certain."""

from budgetprune.predictor._decision import Decision, Simulation
from budgetprune.predictor._predictor import BudgetPredictor

__all__ = ["BudgetPredictor", "Decision", "Simulation"]
