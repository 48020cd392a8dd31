"""Adapters of libraries, one folder each; importing this package registers them."""

from budgetprune.forest.adapters.lightgbm.adapter import LightGBMAdapter
from budgetprune.forest.adapters.onnx.adapter import OnnxAdapter
from budgetprune.forest.adapters.sklearn.adapter import SklearnAdapter
from budgetprune.forest.adapters.xgboost.adapter import XGBoostAdapter
from budgetprune.forest.registry import register_adapter

for _adapter in (SklearnAdapter(), LightGBMAdapter(), XGBoostAdapter(), OnnxAdapter()):
    register_adapter(_adapter)
