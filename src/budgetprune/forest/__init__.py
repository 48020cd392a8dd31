"""From a fitted model to flat arrays, and back: the noun that everything downstream is built on."""

from budgetprune.forest import _lightgbm as _lightgbm  # importing an importer's module registers it
from budgetprune.forest import _sklearn as _sklearn
from budgetprune.forest import _sklearn_boosting as _sklearn_boosting
from budgetprune.forest import _sklearn_hist as _sklearn_hist
from budgetprune.forest import _xgboost as _xgboost
from budgetprune.forest._forest import Forest

__all__ = ["Forest"]
