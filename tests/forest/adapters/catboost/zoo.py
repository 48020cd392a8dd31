"""A zoo of small CatBoost models: every loss and kind of tree that `Forest.from_model` understands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import catboost as cb
import numpy as np
import pandas as pd

from budgetprune.forest import Forest

N_ROWS, N_FEATURES = 300, 5
WEIGHT = np.random.default_rng(3).integers(1, 6, N_ROWS) / 2
SMALL = {
    "iterations": 6,
    "depth": 4,
    "verbose": 0,
    "thread_count": 1,
    "random_seed": 0,
    "allow_writing_files": False,
}


def training_rows() -> np.ndarray:
    """Small integers and tenths, so that borders (means of neighbours) and rows can be equal."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))
    X[:, :2] = np.round(3 * X[:, :2])
    X[:, 2] = np.round(X[:, 2], 1)
    return X


def with_missing(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)


def signal(X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(2).normal(size=len(X))
    return np.nan_to_num(X) @ [0.2, 0.3, -1.0, 0.5, 0.0] + 0.5 * noise


def two(X: np.ndarray) -> np.ndarray:
    return (signal(X) > 0.3).astype(int)


def three(X: np.ndarray) -> np.ndarray:
    return np.digitize(signal(X), [-0.5, 0.7])


def amounts(X: np.ndarray) -> np.ndarray:
    return np.exp(signal(X) / 2)


def counts(X: np.ndarray) -> np.ndarray:
    return np.random.default_rng(5).poisson(amounts(X))


def shares(X: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-signal(X)))


def named(names: list[Any]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: np.array(names)[(two if len(names) == 2 else three)(X)]


def fitted(
    kind: Any, target: Any, *, missing: bool = False, weights: bool = False, **settings: Any
) -> Callable[[], Any]:
    def make() -> Any:
        X = with_missing(training_rows()) if missing else training_rows()
        model = kind({**SMALL, **settings}) if kind is cb.CatBoost else kind(**SMALL, **settings)
        return model.fit(X, target(X), sample_weight=WEIGHT if weights else None)

    return make


def ranker(loss: str) -> Callable[[], Any]:
    def make() -> Any:
        X = training_rows()
        return cb.CatBoostRanker(**SMALL, loss_function=loss).fit(
            X, three(X), group_id=np.arange(N_ROWS) // 10
        )

    return make


def stopped_early() -> Any:
    X = training_rows()
    model = cb.CatBoostClassifier(**SMALL | {"iterations": 60, "learning_rate": 1.0}, use_best_model=True)
    model.fit(X, two(X), eval_set=(X + 0.3, np.roll(two(X), 40)))
    assert 0 < model.tree_count_ < 60
    return model


def scaled() -> Any:
    model = fitted(CLASSIFIER, two)()
    model.set_scale_and_bias(0.5, 0.25)
    return model


def sum_of_models() -> Any:
    X = training_rows()
    models = [cb.CatBoostClassifier(**SMALL | {"random_seed": seed}).fit(X, two(X)) for seed in range(2)]
    return cb.sum_models(models, weights=[0.3, 0.6])


CLASSIFIER, REGRESSOR = cb.CatBoostClassifier, cb.CatBoostRegressor
ZOO: dict[str, Callable[[], Any]] = {
    "logistic": fitted(CLASSIFIER, two),
    "logistic, missing": fitted(CLASSIFIER, two, missing=True),
    "logistic, missing are large": fitted(CLASSIFIER, two, missing=True, nan_mode="Max"),
    "logistic, weights": fitted(CLASSIFIER, two, weights=True),
    "logistic, depth-wise": fitted(CLASSIFIER, two, missing=True, grow_policy="Depthwise"),
    "logistic, leaf-wise": fitted(
        CLASSIFIER, two, missing=True, grow_policy="Lossguide", max_leaves=9, nan_mode="Max"
    ),
    "logistic, ordered": fitted(CLASSIFIER, two, boosting_type="Ordered"),
    "logistic, texts": fitted(CLASSIFIER, named(["no", "yes"])),
    "logistic, bools": fitted(CLASSIFIER, named([False, True])),
    "logistic, floats": fitted(CLASSIFIER, named([-1.5, 2.5])),
    "logistic, CatBoost": fitted(cb.CatBoost, two, loss_function="Logloss"),
    "logistic, early end": stopped_early,
    "logistic, scaled": scaled,
    "logistic, sum of models": sum_of_models,
    "cross-entropy": fitted(CLASSIFIER, shares, loss_function="CrossEntropy"),
    "focal": fitted(CLASSIFIER, two, loss_function="Focal:focal_alpha=0.3;focal_gamma=2"),
    "softmax": fitted(CLASSIFIER, three, missing=True),
    "softmax, texts": fitted(CLASSIFIER, named(["a", "b", "c"]), weights=True),
    "softmax, depth-wise": fitted(CLASSIFIER, three, missing=True, grow_policy="Depthwise"),
    "softmax, two classes": fitted(CLASSIFIER, two, loss_function="MultiClass", grow_policy="Lossguide"),
    "squared": fitted(REGRESSOR, amounts, missing=True),
    "squared, few splits": fitted(
        REGRESSOR, amounts, weights=True, grow_policy="Depthwise", min_data_in_leaf=120
    ),
    "squared, leaf-wise": fitted(REGRESSOR, amounts, grow_policy="Lossguide"),
    "poisson": fitted(REGRESSOR, counts, loss_function="Poisson", missing=True),
    "tweedie": fitted(REGRESSOR, amounts, loss_function="Tweedie:variance_power=1.5"),
    **{
        loss: fitted(REGRESSOR, amounts, loss_function=loss)
        for loss in (
            "MAE",
            "Quantile:alpha=0.3",
            "Huber:delta=1",
            "MAPE",
            "Lq:q=3",
            "Expectile:alpha=0.3",
            "LogCosh",
        )
    },
    "ranking": ranker("YetiRank"),
    "ranking, query RMSE": ranker("QueryRMSE"),
}


def raw_scores(model: Any, rows: Any) -> np.ndarray:
    """The library's own scores before the link, of shape (n_rows, n_outputs)."""
    return cb.CatBoost.predict(model, rows, prediction_type="RawFormulaVal").reshape(len(rows), -1)


def confusing_rows(forest: Forest) -> np.ndarray:
    """Rows on every border, one step below and one above, and with missing values."""
    rng = np.random.default_rng(4)
    split = np.flatnonzero(forest.is_split)
    exact = forest.threshold[split].astype(np.float32)
    with np.errstate(over="ignore"):
        near = [np.nextafter(exact, np.float32(-np.inf)), exact, np.nextafter(exact, np.float32(np.inf))]
    rows = np.resize(training_rows(), (3 * split.size + N_ROWS, N_FEATURES)).astype(np.float32)
    rows += rng.normal(size=rows.shape).astype(np.float32) * (rng.random(rows.shape) < 0.3)
    largest = np.finfo(np.float32).max
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.clip(
        np.concatenate(near), -largest, largest
    )
    return np.concatenate([rows, with_missing(rows)])


@cache
def build(name: str) -> tuple[Any, Forest, np.ndarray]:
    """A model, its forest, and rows that try to confuse it."""
    model = ZOO[name]()
    forest = Forest.from_model(model)
    return model, forest, confusing_rows(forest)


def table_of_categories() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = training_rows()
    texts = ["v", "w", "a category whose name is longer than sixteen", "é", "12"]
    table = pd.DataFrame(
        {"x": X[:, 0], "text": rng.choice(texts, N_ROWS), "number": rng.integers(0, 70, N_ROWS), "u": X[:, 2]}
    )
    y = (table["text"].isin(["w", "é"]) ^ (table["number"] % 3 == 1)) | (table["x"] > 2)
    return table, y.to_numpy().astype(int)
