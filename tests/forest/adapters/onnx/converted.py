"""A zoo of ONNX models that converters write: every kind that `Forest.from_model` understands."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import onnx
import onnxmltools
import pandas as pd
import xgboost as xgb
from onnx import ModelProto
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from budgetprune.forest import Forest

from ...conftest import labels, targets, training_rows, with_missing

NAMES = tuple("abcdef")


def _sklearn(
    model: Any, y: Any = None, *, dtype: Any = np.float32, missing: bool = False, **options: Any
) -> Any:
    def make() -> ModelProto:
        X = with_missing(training_rows()) if missing else training_rows()
        target = targets(X) if y is None else y(X)
        fitted = model.fit(X.astype(dtype), target)
        return to_onnx(fitted, X[:1].astype(dtype), options={id(model): options} if options else None)

    return make


def _lightgbm(model: Any, y: Any = None) -> Any:
    def make() -> ModelProto:
        X = with_missing(training_rows())
        model.fit(X, targets(X) if y is None else y(X))
        return onnxmltools.convert_lightgbm(
            model, initial_types=[("input", FloatTensorType([None, X.shape[1]]))]
        )

    return make


def _xgboost(model: Any, y: Any = None) -> Any:
    def make() -> ModelProto:
        X = with_missing(training_rows())
        model.fit(X, targets(X) if y is None else y(X))
        return onnxmltools.convert_xgboost(
            model, initial_types=[("input", FloatTensorType([None, X.shape[1]]))]
        )

    return make


def _catboost(model: Any, y: Any = None) -> Any:
    def make() -> ModelProto:
        X = training_rows()
        model.fit(X, targets(X) if y is None else y(X))
        with tempfile.TemporaryDirectory() as folder:
            model.save_model(f"{folder}/model.onnx", format="onnx")
            return onnx.load_model(f"{folder}/model.onnx")

    return make


def _columns() -> ModelProto:
    table = pd.DataFrame(training_rows().astype(np.float32), columns=list(NAMES))
    columns = ColumnTransformer([("one", "passthrough", list("abc")), ("other", "passthrough", list("def"))])
    model = make_pipeline(columns, RandomForestClassifier(5, random_state=0))
    return to_onnx(model.fit(table, labels(table.to_numpy())), table[:1])


def two(X: np.ndarray) -> np.ndarray:
    return labels(X, 2)


def three(X: np.ndarray) -> np.ndarray:
    return np.array([3, 7, 11])[labels(X)]


def texts(X: np.ndarray) -> np.ndarray:
    return np.array(["no", "yes"])[labels(X, 2)]


few = {"n_estimators": 5, "random_state": 0}
boosted = few | {"verbose": -1, "n_jobs": 1}
symmetric = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False}
hist = {"max_iter": 6, "min_samples_leaf": 4, "random_state": 0}

CONVERTED: dict[str, Callable[[], ModelProto]] = {
    "forest": _sklearn(RandomForestClassifier(**few), three),
    "forest, two classes": _sklearn(RandomForestClassifier(**few), two),
    "forest, texts": _sklearn(RandomForestClassifier(**few), texts),
    "forest, double": _sklearn(RandomForestClassifier(**few), three, dtype=np.float64),
    "forest, no ZipMap": _sklearn(RandomForestClassifier(**few), three, zipmap=False),
    "forest, columns": _sklearn(RandomForestClassifier(**few), three, zipmap="columns"),
    "forest, named inputs": _columns,
    "extra trees": _sklearn(ExtraTreesClassifier(**few), three),
    "tree": _sklearn(DecisionTreeClassifier(max_depth=5), three),
    "boosting": _sklearn(GradientBoostingClassifier(**few), two),
    "boosting, three classes": _sklearn(GradientBoostingClassifier(**few), three),
    "hist": _sklearn(HistGradientBoostingClassifier(**hist), two, missing=True),
    "hist, three classes": _sklearn(HistGradientBoostingClassifier(**hist), three, missing=True),
    "regression forest": _sklearn(RandomForestRegressor(**few)),
    "regression extra trees": _sklearn(ExtraTreesRegressor(**few)),
    "regression tree": _sklearn(DecisionTreeRegressor(max_depth=5)),
    "regression boosting": _sklearn(GradientBoostingRegressor(**few)),
    "regression hist": _sklearn(HistGradientBoostingRegressor(**hist), missing=True),
    "lightgbm": _lightgbm(lgb.LGBMClassifier(**boosted), two),
    "lightgbm, three classes": _lightgbm(lgb.LGBMClassifier(**boosted), three),
    "lightgbm, squared": _lightgbm(lgb.LGBMRegressor(**boosted)),
    "lightgbm, poisson": _lightgbm(lgb.LGBMRegressor(**boosted, objective="poisson")),
    "lightgbm, forest": _lightgbm(
        # The converter divides by 100, whatever the number of trees.
        lgb.LGBMRegressor(
            n_estimators=100, boosting_type="rf", subsample=0.5, subsample_freq=1, verbose=-1, n_jobs=1
        )
    ),
    "catboost": _catboost(catboost.CatBoostClassifier(**symmetric), two),
    "catboost, texts": _catboost(catboost.CatBoostClassifier(**symmetric), texts),
    "catboost, three classes": _catboost(catboost.CatBoostClassifier(**symmetric), three),
    "catboost, squared": _catboost(catboost.CatBoostRegressor(**symmetric)),
    "xgboost": _xgboost(xgb.XGBClassifier(**few), two),
    "xgboost, base score": _xgboost(xgb.XGBClassifier(**few, base_score=0.2), two),
    "xgboost, three classes": _xgboost(xgb.XGBClassifier(**few), lambda X: labels(X)),
    "xgboost, squared": _xgboost(xgb.XGBRegressor(**few)),
    "xgboost, gamma": _xgboost(xgb.XGBRegressor(**few, objective="reg:gamma")),
}


@cache
def converted(name: str) -> ModelProto:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the converters
        return CONVERTED[name]()


def near_thresholds(forest: Forest) -> np.ndarray:
    """Rows on every threshold, one step below and one above, with missing values if they are known."""
    rng = np.random.default_rng(4)
    split = np.flatnonzero(forest.is_split & np.isfinite(forest.threshold))
    dtype = forest.input_dtype.type
    exact = forest.threshold[split].astype(dtype)
    near = [np.nextafter(exact, dtype(-np.inf)), exact, np.nextafter(exact, dtype(np.inf))]
    rows = np.resize(training_rows()[:, : forest.n_features], (3 * split.size + 100, forest.n_features))
    rows = (rows + rng.normal(size=rows.shape) * (rng.random(rows.shape) < 0.3)).astype(dtype)
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.concatenate(near)
    return rows if forest.missing == "forbidden" else np.concatenate([rows, with_missing(rows).astype(dtype)])
