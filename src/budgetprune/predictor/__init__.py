"""Prediction: acquire one source at a time, and stop when the label is certain."""

from budgetprune.predictor import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.predictor import BudgetPredictor

__all__ = ["BudgetPredictor", "Decision", "Simulation"]
