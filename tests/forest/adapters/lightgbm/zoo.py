"""A zoo of small LightGBM models: every objective and setting that `Forest.from_model` understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import lightgbm as lgb
import numpy as np

from budgetprune.forest import Forest
from budgetprune.forest.packed import ZERO

N_ROWS, N_FEATURES = 400, 7
MANY, FEW = 4, 5  # columns of categories: many of them, and few enough to be tried one by one
WEIGHT = np.random.default_rng(3).integers(1, 6, N_ROWS) / 2
SMALL = {"num_leaves": 9, "min_data_in_leaf": 8, "verbose": -1, "num_threads": 1, "seed": 0}


@dataclass(frozen=True)
class Trained:
    """A fitted model, what it was trained on, and rows that try to confuse its copy."""

    model: Any
    y: np.ndarray
    weight: np.ndarray
    forest: Forest
    rows: np.ndarray

    @property
    def booster(self) -> lgb.Booster:
        return getattr(self.model, "booster_", self.model)


def training_rows() -> np.ndarray:
    """Small integers, so that rows and thresholds can be equal; floats; categories; missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, :2] = np.round(2 * X[:, :2])
    X[:, MANY] = rng.integers(0, 45, N_ROWS)
    X[:, FEW] = rng.integers(0, 3, N_ROWS)
    X[:, 6] = -rng.integers(0, 2, N_ROWS)  # two values only: no room for a bin of missing zeros
    X[rng.random(N_ROWS) < 0.15, 2] = np.nan
    return X


def signal() -> np.ndarray:
    X = np.nan_to_num(training_rows())
    part = 0.4 * X[:, 0] - 0.2 * X[:, 1] + 0.4 * X[:, 2] + (X[:, MANY] % 3 == 0) + 0.5 * X[:, 6]
    return part + 0.6 * (X[:, FEW] == 1) + 0.3 * np.random.default_rng(2).normal(size=N_ROWS)


def two_classes() -> np.ndarray:
    return (signal() > np.quantile(signal(), 0.6)).astype(int)


def three_classes() -> np.ndarray:
    return np.searchsorted(np.quantile(signal(), [0.3, 0.6]), signal())


def amounts() -> np.ndarray:
    return np.exp(0.5 * signal())


def booster(
    objective: Any, y: Callable[[], np.ndarray], rounds: int = 6, weight: Any = None, **settings: Any
) -> Callable[[], Any]:
    def make() -> tuple[Any, np.ndarray, Any]:
        group = [20] * (N_ROWS // 20) if "rank" in str(objective) else None
        columns = settings.pop("categorical_feature", [MANY, FEW])
        data = lgb.Dataset(training_rows(), y(), weight=weight, group=group, categorical_feature=columns)
        return lgb.train({**SMALL, "objective": objective, **settings}, data, rounds), y(), weight

    return make


def wrapper(model: Any, y: Callable[[], np.ndarray], **fit: Any) -> Callable[[], Any]:
    def make() -> tuple[Any, np.ndarray, Any]:
        model.set_params(**SMALL).fit(training_rows(), y(), **fit)
        return model, y(), fit.get("sample_weight")

    return make


def own_gradient(scores: np.ndarray, data: lgb.Dataset) -> tuple[np.ndarray, np.ndarray]:
    return scores - data.get_label(), np.full(scores.size, 2.0)


BAG = {"bagging_freq": 1, "bagging_fraction": 0.6}

ZOO: dict[str, Callable[[], Any]] = {
    "binary": booster("binary", two_classes),
    "binary, weights": booster("binary", two_classes, weight=WEIGHT),
    "binary, penalties": booster("binary", two_classes, lambda_l2=3.0, cat_l2=4.0, min_gain_to_split=0.1),
    "binary, feature costs": booster(
        "binary", two_classes, cegb_penalty_feature_lazy=[0.02] * N_FEATURES, cegb_penalty_split=0.001
    ),
    "binary, contributions": booster("binary", two_classes, feature_contri=[0.5] * N_FEATURES),
    "binary, zero is missing": booster("binary", two_classes, zero_as_missing=True),
    "binary, nothing is missing": booster("binary", two_classes, use_missing=False),
    "binary, from zero": booster("binary", two_classes, boost_from_average=False),
    "binary, full steps": booster("binary", two_classes, learning_rate=1.0),
    "binary, full steps from zero": booster(
        "binary", two_classes, learning_rate=1.0, boost_from_average=False
    ),
    "binary, one round": booster("binary", two_classes, rounds=1),
    "binary, bagging": booster("binary", two_classes, **BAG),
    "binary, goss": booster("binary", two_classes, data_sample_strategy="goss", learning_rate=0.4),
    "binary, random forest": booster("binary", two_classes, boosting="rf", feature_fraction=0.5, **BAG),
    "binary, no categories": booster("binary", two_classes, categorical_feature=[]),
    "multiclass": booster("multiclass", three_classes, num_class=3),
    "multiclass, a class without rows": booster("multiclass", three_classes, num_class=4),
    "multiclass, random forest": booster(
        "multiclass", three_classes, num_class=3, boosting="rf", feature_fraction=0.5, **BAG
    ),
    "regression": booster("regression", amounts),
    "regression, far from zero": booster("regression", lambda: amounts() + 1000.0),
    "regression, random forest": booster("regression", amounts, boosting="rf", feature_fraction=0.6),
    "regression, absolute penalty": booster("regression", amounts, lambda_l1=0.7),
    "regression, short steps": booster("regression", amounts, max_delta_step=0.1),
    "regression, smoothed": booster("regression", amounts, path_smooth=2.0),
    "regression, constrained": booster(
        "regression", amounts, monotone_constraints=[1, -1, 0, 0, 0, 0, 0], categorical_feature=[]
    ),
    "regression, quantized": booster("regression", amounts, use_quantized_grad=True),
    "absolute error": booster("regression_l1", amounts),
    "huber": booster("huber", amounts),
    "fair": booster("fair", amounts),
    "quantile": booster("quantile", amounts, alpha=0.7),
    "percentage error": booster("mape", amounts),
    "poisson": booster("poisson", amounts),
    "gamma": booster("gamma", amounts),
    "tweedie": booster("tweedie", amounts),
    "ranking": booster("lambdarank", three_classes),
    "ranking, xendcg": booster("rank_xendcg", three_classes),
    "own objective": booster(own_gradient, amounts),
    "classifier": wrapper(lgb.LGBMClassifier(n_estimators=5), lambda: np.array(["no", "yes"])[two_classes()]),
    "classifier, three classes": wrapper(
        lgb.LGBMClassifier(n_estimators=5),
        lambda: np.array(["a", "b", "c"])[three_classes()],
        sample_weight=WEIGHT,
    ),
    "regressor": wrapper(lgb.LGBMRegressor(n_estimators=5, objective="poisson"), amounts),
    "ranker": wrapper(lgb.LGBMRanker(n_estimators=5), three_classes, group=[20] * (N_ROWS // 20)),
}

# Leaves are Newton steps on all rows, of a loss that we know: what text says can be found in the rows.
EXACT = [
    "binary",
    "binary, penalties",
    "binary, feature costs",
    "binary, contributions",
    "binary, zero is missing",
    "binary, nothing is missing",
    "binary, from zero",
    "binary, full steps",
    "binary, full steps from zero",
    "binary, one round",
    "multiclass",
    "multiclass, a class without rows",
    "regression",
    "regression, far from zero",
    "regression, random forest",
    "poisson",
    "gamma",
    "classifier",
    "regressor",
]


def confusing_rows(forest: Forest) -> np.ndarray:
    """Rows in which every threshold occurs exactly and one step beside it, with all that a cell may hold."""
    rng = np.random.default_rng(4)
    split = np.flatnonzero(forest.category_set < 0)
    split = split[forest.is_split[split]]
    exact = forest.threshold[split]
    near = [np.nextafter(exact, -np.inf), exact, np.nextafter(exact, np.inf)]
    rows = np.resize(training_rows(), (3 * split.size + N_ROWS, N_FEATURES)).copy()
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.concatenate(near)
    odd = np.array(
        [np.nan, 0.0, -0.0, ZERO, -ZERO, 1e-36, np.nextafter(ZERO, 1), -1.0, 1.7, 44.0, 77.0, 1e12]
    )
    rows = np.where(rng.random(rows.shape) < 0.15, rng.choice(odd, rows.shape), rows)
    # LightGBM cuts off digits after the point, and takes -0.3 for category 0; to a Forest it is none.
    categories = rows[:, [MANY, FEW]]
    rows[:, [MANY, FEW]] = np.where((categories > -1) & (categories < 0), 0.3, categories)
    return rows


@cache
def build(name: str) -> Trained:
    model, y, weight = ZOO[name]()
    forest = Forest.from_model(model)
    return Trained(model, y, np.ones(N_ROWS) if weight is None else weight, forest, confusing_rows(forest))


def raw_scores(booster: lgb.Booster, rows: Any, forest: Forest) -> np.ndarray:
    """The library's own scores, (n_rows, n_outputs); those of a random forest it does not average."""
    return booster.predict(rows, raw_score=True).reshape(len(rows), -1) / forest.divisor
