"""A zoo of small fitted models: every kind and setting that `Forest.from_model` promises to understand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from budgetprune.forest import Forest

N_TRAIN, N_FEATURES = 150, 6


@dataclass(frozen=True)
class Case:
    """A fitted model, what it was trained on, and rows that try to confuse its copy."""

    model: Any
    X: Any
    y: np.ndarray
    forest: Forest
    rows: np.ndarray
    weight: np.ndarray

    @property
    def trees(self) -> list[Any]:
        return getattr(self.model, "estimators_", [self.model])


def training_rows() -> np.ndarray:
    """Half of the features are small integers, so that thresholds (their midpoints) and rows can be equal."""
    X = np.random.default_rng(0).normal(size=(N_TRAIN, N_FEATURES))
    X[:, ::2] = np.round(3 * X[:, ::2])
    return X


def with_missing(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)


def labels(X: np.ndarray, n_classes: int = 3) -> np.ndarray:
    score = np.nan_to_num(X) @ [1.0, 2.0, -1.0, 0.5, 0.3, 0.0] + np.random.default_rng(2).normal(size=len(X))
    return np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def targets(X: np.ndarray) -> np.ndarray:
    return np.exp(0.2 * np.nan_to_num(X) @ [1.0, 2.0, -1.0, 0.5, 0.3, 0.0])


def classifier(model: Any, *, names: Any = (0, 1, 2), missing: bool = False, **fit: Any) -> Callable[[], Any]:
    def make() -> tuple[Any, Any, np.ndarray]:
        X = with_missing(training_rows()) if missing else training_rows()
        y = np.asarray(names)[labels(X, len(names))]
        return model.fit(X, y, **fit), X, y

    return make


def regressor(model: Any, *, missing: bool = False, **fit: Any) -> Callable[[], Any]:
    def make() -> tuple[Any, Any, np.ndarray]:
        X = with_missing(training_rows()) if missing else training_rows()
        y = targets(X)
        return model.fit(X, y, **fit), X, y

    return make


def on_table(model: Any) -> Callable[[], Any]:
    def make() -> tuple[Any, Any, np.ndarray]:
        X = pd.DataFrame(training_rows(), columns=list("abcdef"))
        y = labels(X.to_numpy())
        return model.fit(X, y), X, y

    return make


def bag_that_misses_classes() -> tuple[Any, Any, np.ndarray]:
    """With metadata routing, bags sample by indexing, and a tree knows only the classes of its own rows."""
    X, y = training_rows(), np.asarray(["a", "b", "c"])[labels(training_rows())]
    y[y == "b"] = np.where(np.arange((y == "b").sum()) < 2, "b", "c")
    with config_context(enable_metadata_routing=True):
        model = BaggingClassifier(DecisionTreeClassifier(), 12, max_samples=40, random_state=0).fit(X, y)
    assert min(len(tree.classes_) for tree in model.estimators_) < 3
    return model, X, y


WEIGHT = np.random.default_rng(3).integers(1, 4, N_TRAIN) / 2
OWN_WEIGHT = {0: 0.3, 1: 1.0, 2: 2.7}
CONSTRAINTS = [1, 1, 0, 0, 0, 0]

ZOO: dict[str, Callable[[], Any]] = {
    "random forest": classifier(RandomForestClassifier(7, random_state=0), names=["no", "maybe", "yes"]),
    "random forest, entropy": classifier(RandomForestClassifier(5, criterion="entropy", random_state=0)),
    "random forest, two classes": classifier(RandomForestClassifier(6, random_state=0), names=[-1, 1]),
    "random forest, one class": classifier(RandomForestClassifier(3, random_state=0), names=["only"]),
    "random forest, single nodes": classifier(RandomForestClassifier(3, min_samples_split=N_TRAIN + 1)),
    "random forest, balanced": classifier(
        RandomForestClassifier(5, class_weight="balanced_subsample", random_state=0)
    ),
    "random forest, class weights": classifier(
        RandomForestClassifier(5, class_weight=OWN_WEIGHT, random_state=0)
    ),
    "random forest, weights": classifier(RandomForestClassifier(5, random_state=0), sample_weight=WEIGHT),
    "random forest, missing": classifier(RandomForestClassifier(5, random_state=0), missing=True),
    "random forest, half samples": classifier(RandomForestClassifier(5, max_samples=0.5, random_state=0)),
    "random forest, no bootstrap": classifier(RandomForestClassifier(5, bootstrap=False, random_state=0)),
    "random forest, best first": classifier(RandomForestClassifier(5, max_leaf_nodes=13, random_state=0)),
    "random forest, constrained": classifier(
        RandomForestClassifier(5, monotonic_cst=CONSTRAINTS, random_state=0), names=[0, 1]
    ),
    "random forest, table": on_table(RandomForestClassifier(5, random_state=0)),
    "extra trees": classifier(ExtraTreesClassifier(5, random_state=0), names=[3, 7, 11]),
    "extra trees, missing": classifier(ExtraTreesClassifier(5, random_state=0), missing=True),
    "tree": classifier(DecisionTreeClassifier(random_state=0), names=[3, 7]),
    "tree, missing, best first": classifier(
        DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), missing=True
    ),
    "tree, weights": classifier(DecisionTreeClassifier(random_state=0), sample_weight=WEIGHT),
    "extra tree": classifier(ExtraTreeClassifier(random_state=0)),
    "extra tree, best splitter": classifier(ExtraTreeClassifier(splitter="best", random_state=0)),
    "bag": classifier(BaggingClassifier(random_state=0), names=["x", "y", "z"]),
    "bag, some columns": classifier(
        BaggingClassifier(DecisionTreeClassifier(max_depth=4), max_features=0.5, random_state=0)
    ),
    "bag, drawn columns, missing": classifier(
        BaggingClassifier(DecisionTreeClassifier(), 6, bootstrap_features=True, random_state=0), missing=True
    ),
    "bag, without replacement": classifier(
        BaggingClassifier(ExtraTreeClassifier(), 6, bootstrap=False, max_samples=0.6, random_state=0)
    ),
    "bag, missing classes": bag_that_misses_classes,
    "regression forest": regressor(RandomForestRegressor(7, random_state=0)),
    "regression forest, weights": regressor(RandomForestRegressor(5, random_state=0), sample_weight=WEIGHT),
    "regression forest, poisson": regressor(RandomForestRegressor(5, criterion="poisson", random_state=0)),
    "regression forest, median": regressor(
        RandomForestRegressor(3, criterion="absolute_error", max_depth=4, random_state=0)
    ),
    "regression forest, constrained": regressor(
        RandomForestRegressor(5, monotonic_cst=CONSTRAINTS, max_leaf_nodes=20, random_state=0)
    ),
    "regression extra trees": regressor(ExtraTreesRegressor(5, random_state=0), missing=True),
    "regression tree": regressor(DecisionTreeRegressor(random_state=0)),
    "regression extra tree": regressor(ExtraTreeRegressor(random_state=0)),
    "regression bag": regressor(BaggingRegressor(max_features=4, random_state=0)),
}


def boosted(kind: Any, **settings: Any) -> Any:
    """A small model with leaves deep enough to be pruned."""
    is_hist = "max_iter" in kind().get_params()
    size = {"max_iter": 8, "min_samples_leaf": 4, "max_bins": 40} if is_hist else {"n_estimators": 8}
    return kind(random_state=0, **(size | settings))


GBC, GBR = GradientBoostingClassifier, GradientBoostingRegressor
HGBC, HGBR = HistGradientBoostingClassifier, HistGradientBoostingRegressor

BOOSTED: dict[str, Callable[[], Any]] = {
    "boosting": classifier(boosted(GBC, learning_rate=0.3), names=["no", "yes"]),
    "boosting, three classes": classifier(boosted(GBC), names=["no", "maybe", "yes"]),
    "boosting, samples": classifier(boosted(GBC, subsample=0.6), names=[3, 7]),
    "boosting, weights": classifier(boosted(GBC, init="zero"), sample_weight=WEIGHT),
    "boosting, best first": classifier(boosted(GBC, max_leaf_nodes=9, max_depth=None, learning_rate=1.0)),
    "boosting, early end": classifier(boosted(GBC, n_estimators=50, n_iter_no_change=2), names=[False, True]),
    "boosting, table": on_table(boosted(GBC)),
    "boosting, squared": regressor(boosted(GBR, learning_rate=0.3)),
    "boosting, squared, weights": regressor(boosted(GBR, ccp_alpha=1e-4), sample_weight=WEIGHT),
    "boosting, squared, samples": regressor(boosted(GBR, subsample=0.5)),
    "boosting, absolute": regressor(boosted(GBR, loss="absolute_error")),
    "boosting, huber": regressor(boosted(GBR, loss="huber"), sample_weight=WEIGHT),
    "boosting, quantile": regressor(boosted(GBR, loss="quantile", alpha=0.3)),
    "hist": classifier(boosted(HGBC, learning_rate=0.3), names=["no", "yes"], missing=True),
    "hist, three classes": classifier(boosted(HGBC, l2_regularization=2.0), names=["no", "maybe", "yes"]),
    "hist, weights": classifier(boosted(HGBC, l2_regularization=0.5), names=[0, 1], sample_weight=WEIGHT),
    "hist, class weights": classifier(boosted(HGBC, class_weight="balanced"), names=[0, 1], missing=True),
    "hist, early end": classifier(boosted(HGBC, max_iter=60, early_stopping=True, n_iter_no_change=2)),
    "hist, constrained": classifier(boosted(HGBC, monotonic_cst=CONSTRAINTS), names=[0, 1]),
    "hist, no interactions": classifier(boosted(HGBC, interaction_cst="no_interactions"), names=[-1, 1]),
    "hist, single nodes": classifier(boosted(HGBC, min_samples_leaf=N_TRAIN)),
    "hist, table": on_table(boosted(HGBC)),
    "hist, squared": regressor(boosted(HGBR, l2_regularization=1.0), missing=True),
    "hist, squared, weights": regressor(boosted(HGBR), sample_weight=WEIGHT),
    "hist, poisson": regressor(boosted(HGBR, loss="poisson"), missing=True, sample_weight=WEIGHT),
    "hist, gamma": regressor(boosted(HGBR, loss="gamma", learning_rate=0.4)),
    "hist, absolute": regressor(boosted(HGBR, loss="absolute_error"), missing=True),
    "hist, quantile": regressor(boosted(HGBR, loss="quantile", quantile=0.7)),
}


def confusing_rows(forest: Forest) -> np.ndarray:
    """Rows in which every threshold occurs exactly, one step below and one step above; NaN too if it may."""
    rng = np.random.default_rng(4)
    split = np.flatnonzero(forest.is_split)
    rows = np.tile(training_rows(), (max(1, 3 * split.size // N_TRAIN + 1), 1))
    rows += rng.normal(size=rows.shape) * (rng.random(rows.shape) < 0.5)
    # A threshold is infinite where a split only asks whether the value is missing.
    exact = np.clip(forest.threshold[split], -1e30, 1e30).astype(forest.input_dtype)
    step = forest.input_dtype.type(np.inf)
    near = [np.nextafter(exact, -step), exact, np.nextafter(exact, step)]
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.concatenate(near)
    return with_missing(rows) if forest.missing == "nan" else rows


@cache
def build_case(name: str) -> Case:
    model, X, y = (ZOO | BOOSTED)[name]()
    forest = Forest.from_model(model)
    return Case(model, X, y, forest, confusing_rows(forest), WEIGHT)


@pytest.fixture(params=ZOO)
def case(request: pytest.FixtureRequest) -> Case:
    """Each model of the zoo in turn."""
    return build_case(request.param)


@pytest.fixture(params=BOOSTED)
def boosted_case(request: pytest.FixtureRequest) -> Case:
    """Each boosted model in turn."""
    return build_case(request.param)


@pytest.fixture
def get_case() -> Callable[[str], Case]:
    """A model of the zoo by its name."""
    return build_case


N_SETS = 5


def with_categories(forest: Forest) -> Forest:
    """Replace the thresholds of every third split by one of a few sets of categories."""
    rng = np.random.default_rng(0)
    is_set = forest.is_split & (np.arange(forest.n_nodes) % 3 == 2)
    return replace(
        forest,
        threshold=np.where(is_set, np.nan, forest.threshold),
        category_set=np.where(is_set, rng.integers(N_SETS, size=forest.n_nodes), -1),
        category_start=np.arange(N_SETS + 1),
        category_bits=rng.integers(2**32, size=N_SETS, dtype=np.uint32),
    )


VARIANTS: dict[str, Callable[[Forest], Forest]] = {
    "thresholds": lambda forest: replace(forest, missing="forbidden"),
    "missing values": lambda forest: forest,
    "zeros are missing": lambda forest: replace(forest, missing="nan-or-zero"),
    "categories": with_categories,
    "categories, zeros are missing": lambda forest: replace(with_categories(forest), missing="nan-or-zero"),
    "double precision": lambda forest: replace(forest, input_dtype=np.dtype(np.float64)),
}


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> Forest:
    """A random forest with each kind of split in turn."""
    return VARIANTS[request.param](build_case("random forest, missing").forest)


@pytest.fixture
def variant_rows(variant: Forest) -> np.ndarray:
    """Rows for `variant`."""
    rows = build_case("random forest, missing").rows[:200]
    return variant.prepare_rows(np.nan_to_num(rows) if variant.missing == "forbidden" else rows)


def random_pruning(forest: Forest, seed: int, probability: float = 0.7) -> np.ndarray:
    """A set of splits closed under "parent": each stays with the given probability if its parent does."""
    wanted = np.random.default_rng(seed).random(forest.n_nodes) < probability
    keep = forest.is_split & wanted
    for _ in range(int(forest.depth.max())):
        keep &= (forest.parent < 0) | keep[forest.parent]
    return keep


@pytest.fixture
def prune_randomly() -> Callable[..., np.ndarray]:
    return random_pruning
