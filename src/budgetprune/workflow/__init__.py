"""The main jobs: train a model on a table within a budget, or prune a fitted model."""

from budgetprune.workflow.error_costs import ErrorCosts
from budgetprune.workflow.fit import fit_table
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import FitOptions, PruneOptions
from budgetprune.workflow.prune import prune_model
from budgetprune.workflow.rebudget import rebudget_model

__all__ = [
    "ErrorCosts",
    "FitOptions",
    "Observer",
    "PruneOptions",
    "fit_table",
    "prune_model",
    "rebudget_model",
]
