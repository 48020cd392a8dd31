"""Tree ensembles as flat arrays: import from a library, routing of rows, export."""

from budgetprune.forest.forest import Forest  # isort: skip

# Importing an importer's or exporter's module registers it.
from budgetprune.forest.adapters import onnx as _onnx  # noqa: F401
from budgetprune.forest.adapters.lightgbm import exporter as _to_lightgbm  # noqa: F401
from budgetprune.forest.adapters.lightgbm import importer as _lightgbm  # noqa: F401
from budgetprune.forest.adapters.sklearn import boosting as _boosting  # noqa: F401
from budgetprune.forest.adapters.sklearn import exporter as _to_sklearn  # noqa: F401
from budgetprune.forest.adapters.sklearn import hist as _hist  # noqa: F401
from budgetprune.forest.adapters.sklearn import importer as _sklearn  # noqa: F401
from budgetprune.forest.adapters.xgboost import exporter as _to_xgboost  # noqa: F401
from budgetprune.forest.adapters.xgboost import importer as _xgboost  # noqa: F401

__all__ = ["Forest"]
