"""The public surface is deliberate: whoever adds a name to it adds it here."""

import re
import subprocess
import sys

import budgetprune

NAMES = {
    "AcquisitionError",
    "BudgetClassifier",
    "BudgetModel",
    "FitOptions",
    "PruneOptions",
    "fit_table",
    "predict_batches",
    "predict_files",
    "prune_model",
    "BudgetRegressor",
    "StagedPredictor",
    "StagedTradeOff",
    "BudgetPredictor",
    "BudgetPruneClassifier",
    "Decision",
    "Simulation",
    "BudgetPruneRegressor",
    "TradeOff",
    "BudgetPruneError",
    "BudgetWarning",
    "Certificate",
    "FeatureCosts",
    "Forest",
    "InvalidInputError",
    "Pruning",
    "PruningPath",
    "PruningProblem",
    "SolverError",
    "UnsupportedModelError",
    "__version__",
}


def test_names():
    assert set(budgetprune.__all__) == NAMES
    assert all(hasattr(budgetprune, name) for name in NAMES)
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", budgetprune.__version__)


def test_errors_are_one_short_hierarchy():
    assert issubclass(budgetprune.InvalidInputError, (budgetprune.BudgetPruneError, ValueError))
    assert issubclass(budgetprune.UnsupportedModelError, (budgetprune.BudgetPruneError, TypeError))
    assert issubclass(budgetprune.SolverError, (budgetprune.BudgetPruneError, RuntimeError))
    assert issubclass(budgetprune.BudgetWarning, UserWarning)


def test_import_needs_no_extra():
    code = """
import sys
for extra in ("pandas", "polars", "matplotlib", "ortools", "onnx", "lightgbm", "xgboost"):
    sys.modules[extra] = None  # importing it fails now
import budgetprune, budgetprune.demo, budgetprune.plots
"""
    subprocess.run([sys.executable, "-c", code], check=True)
