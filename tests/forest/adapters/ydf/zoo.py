"""Small models of Yggdrasil, of every kind that `Forest.from_model` understands, and rows to compare on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from budgetprune.forest import Forest

ydf = pytest.importorskip("ydf")
ydf.verbose(0)

N_ROWS = 300
SMALL = {"num_trees": 6, "max_depth": 5, "random_seed": 3}
CITIES = ["Oslo", "Rome", "Bern", "Kiev"]
Model = Any


def training_rows() -> pd.DataFrame:
    """Tenths and small integers, so that thresholds (means of neighbours) and rows can be equal."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=N_ROWS).round(1),
            "size": rng.normal(size=N_ROWS),
            "city": rng.choice([*CITIES, "Ys"], N_ROWS, p=[0.3, 0.25, 0.2, 0.24, 0.01]),
            "smokes": rng.random(N_ROWS) < 0.5,
            "grade": rng.integers(0, 6, N_ROWS),
        }
    )
    table.loc[rng.random(N_ROWS) < 0.15, "age"] = np.nan
    table["city"] = table["city"].where(rng.random(N_ROWS) > 0.15, None)
    return table


def signal(table: pd.DataFrame) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=len(table)) * 0.3
    effects = table["city"].isin(["Oslo", "Kiev"]) + 0.5 * table["smokes"] + (table["grade"] % 3 == 0)
    return (table["age"].fillna(0.0) + effects + noise).to_numpy()


TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "numbers": lambda s: s,
    "counts": lambda s: np.random.default_rng(2).poisson(np.exp(s / 2)),
    "two": lambda s: np.where(s > 0.9, "yes", "no"),
    "zero and one": lambda s: (s > 0.9).astype(int),
    "true and false": lambda s: s > 0.9,
    "three": lambda s: np.digitize(s, [0.4, 1.4]) * 10,
    "relevance": lambda s: np.digitize(s, [0.0, 0.7, 1.4]),
}


def fitted(kind: str, target: str, **settings: Any) -> Callable[[], Model]:
    def make() -> Model:
        table = training_rows()
        table["target"] = TARGETS[target](signal(table))
        if target == "relevance":
            table["query"] = np.arange(N_ROWS) // 10
        task = "CLASSIFICATION"
        if target in ("numbers", "counts"):
            task = "REGRESSION"
        elif target == "relevance":
            task = "RANKING"
        small = {name: value for name, value in SMALL.items() if kind != "Cart" or name != "num_trees"}
        learner = getattr(ydf, f"{kind}Learner")
        return learner(label="target", task=getattr(ydf.Task, task), **(small | settings)).train(table)

    return make


FOREST, BOOSTED = "RandomForest", "GradientBoostedTrees"
NUMBERED_GRADES = {"features": [("grade", ydf.Semantic.CATEGORICAL)], "include_all_columns": True}
BINS = {"features": [("size", ydf.Semantic.DISCRETIZED_NUMERICAL)], "include_all_columns": True}
ZOO = {
    "forest": fitted(FOREST, "two"),
    "forest of three labels": fitted(FOREST, "three"),
    "forest of booleans": fitted(FOREST, "true and false"),
    "forest of shares": fitted(FOREST, "two", winner_take_all=False),
    "forest of shares, three labels": fitted(FOREST, "three", winner_take_all=False),
    "forest of numbers": fitted(FOREST, "numbers"),
    "forest of 38 trees": fitted(FOREST, "two", num_trees=38, bootstrap_size_ratio=0.3),
    "forest that keeps little": fitted(
        FOREST, "two", keep_non_leaf_label_distribution=False, pure_serving_model=True
    ),
    "one tree": fitted("Cart", "three"),
    "one tree of numbers": fitted("Cart", "numbers"),
    "logistic": fitted(BOOSTED, "zero and one"),
    "logistic, second order": fitted(BOOSTED, "two", use_hessian_gain=True),
    "logistic, that keeps little": fitted(BOOSTED, "two", pure_serving_model=True),
    "softmax": fitted(BOOSTED, "three"),
    "focal": fitted(BOOSTED, "two", loss="BINARY_FOCAL_LOSS"),
    "squared": fitted(BOOSTED, "numbers"),
    "absolute": fitted(BOOSTED, "numbers", loss="MEAN_AVERAGE_ERROR"),
    "poisson": fitted(BOOSTED, "counts", loss="POISSON"),
    "dart": fitted(BOOSTED, "numbers", forest_extraction="DART", dart_dropout=0.3),
    "best first": fitted(BOOSTED, "numbers", growing_strategy="BEST_FIRST_GLOBAL"),
    "ranking": fitted(BOOSTED, "relevance", ranking_group="query"),
    "ranking, cross-entropy": fitted(BOOSTED, "relevance", ranking_group="query", loss="XE_NDCG_MART"),
    "missing values by node": fitted(FOREST, "two", missing_value_policy="RANDOM_LOCAL_IMPUTATION"),
    "tests of missing values": fitted(
        BOOSTED, "two", allow_na_conditions=True, missing_value_policy="LOCAL_IMPUTATION"
    ),
    "one category each": fitted(FOREST, "two", categorical_algorithm="ONE_HOT"),
    "numbered categories": fitted(FOREST, "two", **NUMBERED_GRADES),
    "bins": fitted(BOOSTED, "two", **BINS),
}


@cache
def build(name: str) -> tuple[Model, Forest, pd.DataFrame]:
    """Return a model, its forest, and rows: of training, on thresholds, and with unusual categories."""
    model = ZOO[name]()
    forest = Forest.from_model(model)
    return model, forest, rows_to_try(forest)


def rows_to_try(forest: Forest) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    table = training_rows()
    parts = [table]
    for k, name in enumerate(forest.names):
        below = forest.threshold[(forest.feature == k) & (np.abs(forest.threshold) < 1e9)].astype(np.float32)
        if forest.feature_categories[k] is None and below.size:
            # The largest number below a threshold, the threshold, and a double between the two.
            on = np.nextafter(below, np.float32(np.inf)).astype(float)
            values = np.concatenate([below, on, np.nextafter(on, -np.inf)])
            parts.append(table.sample(values.size, replace=True, random_state=k).assign(**{name: values}))
    odd = table.sample(120, random_state=9)
    parts.append(odd.assign(city=rng.choice(["Ys", "Atlantis", "", "<OOD>", "Oslo"], len(odd))))
    parts.append(odd.assign(grade=rng.integers(-3, 12, len(odd))))
    return pd.concat(parts, ignore_index=True)[list(forest.names)]


def own_answers(model: Model, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    """What Yggdrasil predicts: numbers, and labels of a classifier."""
    try:
        numbers, slow = model.predict(rows), False
    except RuntimeError:  # no fast engine tests missing values
        numbers, slow = model.predict(rows, use_slow_engine=True), True
    is_classifier = model.task() == ydf.Task.CLASSIFICATION
    return numbers, model.predict_class(rows, use_slow_engine=slow) if is_classifier else None
