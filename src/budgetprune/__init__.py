"""Prediction on a budget: exact, joint pruning of tree ensembles whose features cost something."""

from importlib.metadata import version as _version

from budgetprune.costs import FeatureCosts
from budgetprune.errors import (
    BudgetPruneError,
    BudgetWarning,
    InvalidInputError,
    SolverError,
    UnsupportedModelError,
)
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor, TradeOff
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.problem import Certificate, PruningProblem
from budgetprune.pruning import Pruning

__version__ = _version("budgetprune")

__all__ = [
    "BudgetPruneClassifier",
    "BudgetPruneError",
    "BudgetPruneRegressor",
    "BudgetWarning",
    "Certificate",
    "FeatureCosts",
    "Forest",
    "InvalidInputError",
    "Pruning",
    "PruningPath",
    "PruningProblem",
    "SolverError",
    "TradeOff",
    "UnsupportedModelError",
    "__version__",
]
