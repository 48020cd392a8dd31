"""A zoo of small XGBoost models: every objective and setting that `Forest.from_model` understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import xgboost as xgb

from budgetprune.forest import Forest

N_ROWS, N_FEATURES = 300, 6
CATEGORICAL = [4, 5]
TYPES = ["float", "float", "float", "float", "c", "c"]
WEIGHT = np.random.default_rng(3).integers(1, 6, N_ROWS) / 2


@dataclass(frozen=True)
class Trained:
    """A fitted model, what it was trained on, and rows that try to confuse its copy."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    forest: Forest
    rows: np.ndarray

    @property
    def booster(self) -> xgb.Booster:
        return booster_of(self.model)


def booster_of(model: Any) -> xgb.Booster:
    return model if isinstance(model, xgb.Booster) else model.get_booster()


def as_matrix(booster: xgb.Booster, rows: np.ndarray) -> xgb.DMatrix:
    return xgb.DMatrix(rows, feature_names=booster.feature_names, feature_types=booster.feature_types)


def margins(model: Any, rows: np.ndarray) -> np.ndarray:
    """The library's own scores before the link, of shape (n_rows, n_outputs)."""
    if isinstance(model, xgb.Booster):
        scores = model.predict(as_matrix(model, rows), output_margin=True)
    else:
        scores = model.predict(rows, output_margin=True)
    return scores.reshape(len(rows), -1)


def training_rows() -> np.ndarray:
    """Small integers, so that rows and thresholds can be equal; floats; and two columns of categories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, :2] = np.round(3 * X[:, :2])
    X[:, 4] = rng.integers(0, 70, N_ROWS)
    X[:, 5] = rng.integers(0, 4, N_ROWS)
    return X


def with_missing(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)


def signal(X: np.ndarray) -> np.ndarray:
    X = np.nan_to_num(X)
    score = X[:, :4] @ [0.2, 0.3, -1.0, 0.5] + 0.7 * (X[:, 4] % 3 == 0) + 0.5 * (X[:, 5] == 2)
    return score + 0.5 * np.random.default_rng(2).normal(size=len(X))


def one_class(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X), dtype=int)


def two_classes(X: np.ndarray) -> np.ndarray:
    return (signal(X) > 0.3).astype(int)


def three_classes(X: np.ndarray) -> np.ndarray:
    return np.digitize(signal(X), [-0.2, 0.9])


def amounts(X: np.ndarray) -> np.ndarray:
    return np.exp(signal(X) / 2)


def counts(X: np.ndarray) -> np.ndarray:
    return np.random.default_rng(5).poisson(amounts(X))


def fitted(
    model: Any,
    target: Callable[[np.ndarray], np.ndarray],
    *,
    missing: bool = False,
    weights: bool = False,
    **fit: Any,
) -> Callable[[], Any]:
    def make() -> tuple[Any, ...]:
        X = with_missing(training_rows()) if missing else training_rows()
        weight = WEIGHT if weights else np.ones(N_ROWS)
        return model.fit(X, target(X), sample_weight=weight if weights else None, **fit), X, target(X), weight

    return make


def trained(
    objective: str, target: Callable[[np.ndarray], np.ndarray], *, missing: bool = False, **settings: Any
) -> Callable[[], Any]:
    """A plain Booster."""

    def make() -> tuple[Any, ...]:
        X = with_missing(training_rows()) if missing else training_rows()
        settings_ = {"max_depth": 3, "objective": objective, **settings}
        return xgb.train(settings_, xgb.DMatrix(X, target(X)), 4), X, target(X), np.ones(N_ROWS)

    return make


def stopped_early() -> tuple[Any, ...]:
    X, other = training_rows(), training_rows() + 0.3
    model = xgb.XGBClassifier(n_estimators=60, max_depth=5, learning_rate=1.0, early_stopping_rounds=8)
    model.fit(X, three_classes(X), eval_set=[(other, np.roll(three_classes(X), 40))], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return model, X, three_classes(X), np.ones(N_ROWS)


def ranker() -> tuple[Any, ...]:
    X = training_rows()
    model = xgb.XGBRanker(**SMALL, objective="rank:ndcg").fit(X, three_classes(X), group=[N_ROWS // 2] * 2)
    return model, X, three_classes(X), np.ones(N_ROWS)


SMALL = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
CLASSIFIER, REGRESSOR = xgb.XGBClassifier, xgb.XGBRegressor
BY_CATEGORY = {"enable_categorical": True, "feature_types": TYPES}
# Nothing that samples rows or bends what nodes answer: inner values and gains follow from the rows.
CLEAN: dict[str, Callable[[], Any]] = {
    "logistic": fitted(CLASSIFIER(**SMALL), two_classes),
    "logistic, missing": fitted(
        CLASSIFIER(**SMALL, learning_rate=0.1, reg_lambda=3), two_classes, missing=True
    ),
    "logistic, weights": fitted(CLASSIFIER(**SMALL, reg_lambda=0), two_classes, weights=True),
    "logistic, base score": fitted(CLASSIFIER(**SMALL, base_score=0.1), two_classes),
    "logistic, exact, pruned": fitted(CLASSIFIER(**SMALL, tree_method="exact", gamma=2), two_classes),
    "logistic, approx, leaf-wise": fitted(
        CLASSIFIER(n_estimators=5, tree_method="approx", max_leaves=9, grow_policy="lossguide"), two_classes
    ),
    "logistic, stumps": fitted(CLASSIFIER(n_estimators=9, max_depth=1), two_classes),
    "logistic, categories": fitted(
        CLASSIFIER(**SMALL, **BY_CATEGORY, max_cat_to_onehot=5), two_classes, missing=True
    ),
    "raw scores": trained("binary:logitraw", two_classes),
    "parallel trees": fitted(CLASSIFIER(**SMALL, num_parallel_tree=3, colsample_bynode=0.5), two_classes),
    "random forest": fitted(xgb.XGBRFClassifier(**SMALL, subsample=1.0), two_classes),
    "softmax": fitted(CLASSIFIER(**SMALL), three_classes, missing=True),
    "softmax, weights": fitted(CLASSIFIER(**SMALL, objective="multi:softmax"), three_classes, weights=True),
    "softmax, categories": fitted(CLASSIFIER(**SMALL, **BY_CATEGORY), three_classes),
    "squared": fitted(REGRESSOR(**SMALL), amounts, missing=True),
    "squared, weights": fitted(REGRESSOR(**SMALL, learning_rate=1.0), amounts, weights=True),
    "squared, categories": fitted(REGRESSOR(**SMALL, **BY_CATEGORY), amounts),
    "squared, random forest": fitted(xgb.XGBRFRegressor(**SMALL, subsample=1.0), amounts),
    "poisson": fitted(REGRESSOR(**SMALL, objective="count:poisson", max_delta_step=2.0), counts),
    "gamma": fitted(REGRESSOR(**SMALL, objective="reg:gamma", base_score=2.0), amounts, weights=True),
}

ZOO: dict[str, Callable[[], Any]] = CLEAN | {
    "logistic, reg": fitted(CLASSIFIER(**SMALL, objective="reg:logistic"), two_classes),
    "logistic, booster": trained("binary:logistic", two_classes, missing=True),
    "logistic, samples": fitted(CLASSIFIER(**SMALL, subsample=0.5), two_classes),
    "logistic, sparse leaves": fitted(CLASSIFIER(**SMALL, reg_alpha=1.0), two_classes),
    "logistic, capped steps": fitted(CLASSIFIER(**SMALL, max_delta_step=0.2), two_classes),
    "logistic, capped stumps": fitted(
        CLASSIFIER(n_estimators=3, max_depth=1, max_delta_step=0.2), two_classes
    ),
    "logistic, one class": trained("binary:logistic", one_class, base_score=0.5),
    "logistic, constrained": fitted(
        CLASSIFIER(**SMALL, monotone_constraints=(1, -1, 0, 0, 0, 0)), two_classes
    ),
    "logistic, single nodes": fitted(CLASSIFIER(n_estimators=3, gamma=1e9), two_classes),
    "softmax, booster": trained("multi:softprob", three_classes, num_class=3),
    "softmax, early end": stopped_early,
    "softmax, random forest": fitted(xgb.XGBRFClassifier(**SMALL), three_classes, missing=True),
    "poisson, capped steps": fitted(REGRESSOR(**SMALL, objective="count:poisson"), counts),
    "tweedie": fitted(REGRESSOR(**SMALL, objective="reg:tweedie"), amounts, missing=True),
    "absolute": fitted(REGRESSOR(**SMALL, objective="reg:absoluteerror"), amounts),
    "quantile": fitted(REGRESSOR(**SMALL, objective="reg:quantileerror", quantile_alpha=0.3), amounts),
    "huber": fitted(REGRESSOR(**SMALL, objective="reg:pseudohubererror"), amounts),
    "squared log": fitted(REGRESSOR(**SMALL, objective="reg:squaredlogerror"), amounts),
    "ranking": ranker,
    "ranking, booster": trained("rank:pairwise", two_classes),
}


def confusing_rows(forest: Forest) -> np.ndarray:
    """Rows in which every threshold occurs exactly, one step below and one step above; missing values; and
    categories that are unknown, fractional, negative or huge."""
    rng = np.random.default_rng(4)
    split = np.flatnonzero(forest.is_split & (forest.category_set < 0))
    rows = np.tile(training_rows(), (3 * split.size // N_ROWS + 1, 1))
    rows[:, :4] += rng.normal(size=(len(rows), 4)) * (rng.random((len(rows), 4)) < 0.5)
    is_odd = rng.random((len(rows), 2)) < 0.3
    rows[:, CATEGORICAL] = np.where(
        is_odd,
        rng.choice([-1.0, -0.5, 1.5, 31, 32, 64, 71, 1000, 2.0**24, 3e9], is_odd.shape),
        rows[:, CATEGORICAL],
    )
    exact = forest.threshold[split].astype(np.float32)
    near = [np.nextafter(exact, np.float32(-np.inf)), exact, np.nextafter(exact, np.float32(np.inf))]
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.concatenate(near)
    return np.concatenate([rows, with_missing(rows)])


@cache
def build(name: str) -> Trained:
    model, X, y, weight = ZOO[name]()
    forest = Forest.from_model(model)
    return Trained(model, X, y, weight, forest, confusing_rows(forest))
