"""The main jobs: train a model on a table within a budget, or prune a fitted model."""

from budgetprune.workflow.comparison import rounded_up
from budgetprune.workflow.error_costs import ErrorCosts
from budgetprune.workflow.fit import fit_table
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import FitOptions, PruneOptions, check_limit
from budgetprune.workflow.prune import prune_model
from budgetprune.workflow.rebudget import rebudget_model, unused_budget_note
from budgetprune.workflow.tables import encode_target, price_list_template, read_table_for, rows_for
from budgetprune.workflow.tables.reading import MOST_COLUMNS
from budgetprune.workflow.tables.spreadsheets import escape_formulas
from budgetprune.workflow.training_data import read_columns

__all__ = [
    "MOST_COLUMNS",
    "ErrorCosts",
    "FitOptions",
    "Observer",
    "PruneOptions",
    "check_limit",
    "encode_target",
    "escape_formulas",
    "fit_table",
    "price_list_template",
    "prune_model",
    "read_columns",
    "read_table_for",
    "rebudget_model",
    "rounded_up",
    "rows_for",
    "unused_budget_note",
]
