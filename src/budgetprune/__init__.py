"""Prediction on a budget: exact, joint pruning of tree ensembles whose features cost something."""

import budgetprune.model
import budgetprune.solvers  # noqa: F401  (registers the solvers)
from budgetprune.costs import FeatureCosts
from budgetprune.errors import (
    AcquisitionError,
    BudgetPruneError,
    BudgetWarning,
    InvalidInputError,
    SolverError,
    UnsupportedModelError,
)
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor, TradeOff
from budgetprune.forest import Forest
from budgetprune.model import BudgetModel
from budgetprune.path import PruningPath
from budgetprune.predictor import BudgetPredictor, Decision, Simulation
from budgetprune.problem import Certificate, Pruning, PruningProblem
from budgetprune.staged import BudgetClassifier, BudgetRegressor, StagedPredictor, StagedTradeOff
from budgetprune.utils.environment import VERSION
from budgetprune.workflow import FitOptions, PruneOptions, fit_table, prune_model

__version__ = VERSION

__all__ = [
    "AcquisitionError",
    "BudgetClassifier",
    "BudgetModel",
    "BudgetPredictor",
    "BudgetPruneClassifier",
    "BudgetPruneError",
    "BudgetPruneRegressor",
    "BudgetRegressor",
    "BudgetWarning",
    "Certificate",
    "Decision",
    "FeatureCosts",
    "FitOptions",
    "Forest",
    "InvalidInputError",
    "PruneOptions",
    "Pruning",
    "PruningPath",
    "PruningProblem",
    "Simulation",
    "SolverError",
    "StagedPredictor",
    "StagedTradeOff",
    "TradeOff",
    "UnsupportedModelError",
    "__version__",
    "fit_table",
    "prune_model",
]
