"""Small models of every kind, and the slow, obvious twins: a walk down each tree, row by row, in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from budgetprune.forest import Forest

N_TRAIN, N_COST, N_FEATURES = 40, 23, 4
NAMES = np.array(["high", "low", "mid"])


@dataclass(frozen=True)
class Case:
    """A fitted model, the rows it was trained on, and fresh ones; weights are small integers."""

    forest: Forest
    X_train: np.ndarray
    y_train: np.ndarray
    X: np.ndarray
    y: np.ndarray
    weight_train: np.ndarray
    weight: np.ndarray
    class_weight: Any = None

    @property
    def train(self) -> dict[str, Any]:
        return {"X_train": self.X_train, "y_train": self.y_train}


SMALL = {"n_estimators": 3, "max_depth": 4, "random_state": 0}
OWN_WEIGHT = {"low": 3, "high": 2}
CONSTRAINTS = [1, 0, 0, 0]

MODELS: dict[str, Any] = {
    "forest": RandomForestClassifier(**SMALL),
    "forest, balanced": RandomForestClassifier(**SMALL, class_weight="balanced"),
    "forest, balanced subsamples": RandomForestClassifier(**SMALL, class_weight="balanced_subsample"),
    "forest, class weights": RandomForestClassifier(**SMALL, class_weight=OWN_WEIGHT),
    "forest, missing": RandomForestClassifier(**SMALL),
    "forest, half samples": RandomForestClassifier(**SMALL, max_samples=0.5),
    "forest, roots only": RandomForestClassifier(**SMALL, min_samples_split=100),
    "forest, constrained": RandomForestClassifier(**SMALL, monotonic_cst=CONSTRAINTS),
    "bag": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 3, random_state=0),
    "bag, class weights": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3, class_weight={1: 3, 0: 2}), 3, random_state=0
    ),
    "tree, weights": DecisionTreeClassifier(max_depth=4, random_state=0),
    "extra trees": ExtraTreesClassifier(**SMALL),
    "regression": RandomForestRegressor(**SMALL),
    "regression, missing": RandomForestRegressor(**SMALL),
    "regression, median": RandomForestRegressor(**SMALL, criterion="absolute_error"),
    "regression, median, weights": RandomForestRegressor(
        **SMALL, criterion="absolute_error", bootstrap=False
    ),
    "regression, constrained": RandomForestRegressor(**SMALL, monotonic_cst=CONSTRAINTS),
    "regression extra trees": ExtraTreesRegressor(**SMALL),
}


@cache
def build_case(name: str) -> Case:
    rng = np.random.default_rng(0)
    X = np.round(2 * rng.normal(size=(N_TRAIN + N_COST, N_FEATURES)))
    score = X @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=len(X))
    if "missing" in name:
        X[rng.random(X.shape) < 0.2] = np.nan
    if "regression" in name:
        y = 1000 + score
    else:
        n_classes = 2 if "constrained" in name else 3
        y = NAMES[np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)]
    weight = rng.integers(0, 4, len(X)).astype(float)
    model = MODELS[name]
    model.fit(
        X[:N_TRAIN],
        y[:N_TRAIN],
        sample_weight=weight[:N_TRAIN] + 1 if "weights" in name.split(", ") else None,
    )
    in_bag = [part[:N_TRAIN] for part in (X, y, weight)]
    return Case(
        Forest.from_model(model),
        in_bag[0],
        in_bag[1],
        X[N_TRAIN:],
        y[N_TRAIN:],
        in_bag[2],
        weight[N_TRAIN:],
        {"bag, class weights": OWN_WEIGHT}.get(name, getattr(model, "class_weight", None)),
    )


@pytest.fixture(params=MODELS)
def case(request: pytest.FixtureRequest) -> Case:
    """Each model in turn."""
    return build_case(request.param)


@pytest.fixture
def get_case() -> Callable[[str], Case]:
    """A model by its name."""
    return build_case


@cache
def _way(forest: Forest, t: int, row: tuple[float, ...]) -> list[int]:
    h = int(forest.tree_start[t])
    nodes = [h]
    while forest.feature[h] >= 0:
        x = row[forest.feature[h]]
        left = forest.missing_left[h] if np.isnan(x) else x <= forest.threshold[h]
        h = int(forest.left[h] if left else forest.right[h])
        nodes.append(h)
    return nodes


class Twins:
    """What the problem computes in arrays, from the definitions."""

    @staticmethod
    def way(forest: Forest, t: int, row: np.ndarray) -> list[int]:
        """Nodes that a row passes in tree t, from the root to a leaf."""
        return _way(forest, t, tuple(np.float32(row).tolist()))

    @classmethod
    def reached(cls, forest: Forest, X: np.ndarray) -> list[list[int]]:
        """Rows that reach each node."""
        rows: list[list[int]] = [[] for _ in range(forest.n_nodes)]
        for t in range(forest.n_trees):
            for i, row in enumerate(X):
                for h in cls.way(forest, t, row):
                    rows[h].append(i)
        return rows

    @staticmethod
    def above(forest: Forest, h: int) -> list[int]:
        """Proper ancestors of a node."""
        nodes = []
        while (h := int(forest.parent[h])) >= 0:
            nodes.append(h)
        return nodes

    @classmethod
    def acquired(cls, problem: Any, X: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """Sources that each row needs on its ways through the splits that stay."""
        costs, forest = problem.costs, problem.forest
        acquired = np.zeros((len(X), costs.n_sources), dtype=bool)
        for t in range(forest.n_trees):
            for i, row in enumerate(X):
                for h in cls.way(forest, t, row):
                    if keep[h]:
                        k = forest.feature[h]
                        acquired[i, costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]] = True
        return acquired & (costs.price > 0)

    @staticmethod
    def loss(forest: Forest, name: str, h: int, y: Any) -> float:
        """What node h loses on a row of weight 1."""
        if name == "squared":
            return (y - forest.value[h, 0]) ** 2
        if name == "brier":
            return ((forest.value[h] - (forest.classes == y)) ** 2).sum()
        return float(forest.classes[np.argmax(forest.value[h])] != y)

    @classmethod
    def lost(
        cls, forest: Forest, loss: str, X: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lost weight of each node and counted weight of each tree; weights are per tree and row."""
        lost = np.zeros(forest.n_nodes)
        for t in range(forest.n_trees):
            for row, label, amount in zip(X, y, weight[t], strict=True):
                for h in cls.way(forest, t, row):
                    lost[h] += amount * cls.loss(forest, loss, h, label)
        return lost, weight.sum(axis=1)

    @staticmethod
    def class_weight(case: Case, y: np.ndarray) -> np.ndarray:
        """Class weights of rows, as scikit-learn computes them for training rows."""
        if not case.forest.is_classifier:
            return np.ones(len(y))
        wish = "balanced" if case.class_weight == "balanced_subsample" else case.class_weight
        return compute_sample_weight(wish, y)

    @classmethod
    def prunings(cls, forest: Forest) -> Iterator[np.ndarray]:
        """Every pruning of a tiny forest."""
        for kept in product(*(cls._kept_below(forest, int(root)) for root in forest.tree_start[:-1])):
            keep = np.zeros(forest.n_nodes, dtype=bool)
            keep[[h for nodes in kept for h in nodes]] = True
            yield keep

    @classmethod
    def _kept_below(cls, forest: Forest, h: int) -> list[list[int]]:
        if forest.feature[h] < 0:
            return [[]]
        left, right = (cls._kept_below(forest, int(child[h])) for child in (forest.left, forest.right))
        return [[], *([h, *a, *b] for a in left for b in right)]


@pytest.fixture
def twins() -> type[Twins]:
    return Twins


@pytest.fixture
def prune_randomly() -> Callable[[Forest, int], np.ndarray]:
    """A set of splits closed under "parent": each stays with probability 0.7 if its parent does."""

    def prune(forest: Forest, seed: int) -> np.ndarray:
        keep = forest.is_split & (np.random.default_rng(seed).random(forest.n_nodes) < 0.7)
        for h in range(forest.n_nodes):
            keep[h] &= forest.parent[h] < 0 or keep[forest.parent[h]]
        return keep

    return prune
