"""Prediction: acquire one source at a time, and stop when the label is certain."""

from budgetprune.predictor import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.predictor.bounds import StepResult
from budgetprune.predictor.checks import check_max_cost, check_number
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.kernels import COMPLETE, NO_LABEL, STOPPED, TOO_EXPENSIVE, UNAVAILABLE, WAITING
from budgetprune.predictor.predictor import SETTINGS, BudgetPredictor, register_restorer
from budgetprune.predictor.rules import ORDERS
from budgetprune.predictor.source_index import SourceIndex
from budgetprune.predictor.tables import Sources

__all__ = [
    "COMPLETE",
    "NO_LABEL",
    "ORDERS",
    "SETTINGS",
    "STOPPED",
    "TOO_EXPENSIVE",
    "UNAVAILABLE",
    "WAITING",
    "BudgetPredictor",
    "Decision",
    "Simulation",
    "SourceIndex",
    "Sources",
    "StepResult",
    "check_max_cost",
    "check_number",
    "register_restorer",
]
