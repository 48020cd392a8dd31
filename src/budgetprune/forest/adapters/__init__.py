"""Adapters of libraries, one folder each; the registry finds them in `BUILT_IN`."""

from budgetprune.forest.adapters.catboost.adapter import CatBoostAdapter
from budgetprune.forest.adapters.lightgbm.adapter import LightGBMAdapter
from budgetprune.forest.adapters.onnx.adapter import OnnxAdapter
from budgetprune.forest.adapters.sklearn.adapter import SklearnAdapter
from budgetprune.forest.adapters.xgboost.adapter import XGBoostAdapter
from budgetprune.forest.adapters.ydf.adapter import YdfAdapter

BUILT_IN = (
    SklearnAdapter(),
    LightGBMAdapter(),
    XGBoostAdapter(),
    CatBoostAdapter(),
    OnnxAdapter(),
    YdfAdapter(),
)
