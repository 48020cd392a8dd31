"""Rows to fit on, and slow, obvious twins of what estimators compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune import Forest
from budgetprune.costs import CostTable

N_FEATURES = 6


def draw(n_rows: int = 300, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels; the first features tell much, the last tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32).astype(np.float64)
    score = 2 * X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] / 2 + rng.normal(size=n_rows) / 2
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def draw_targets(n_rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and positive numbers."""
    X, _ = draw(n_rows, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(size=n_rows)
    return X, np.exp((2 * X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] / 2 + noise / 2) / 4)


def walk(forest: Forest, root: int, row: np.ndarray) -> list[int]:
    """Nodes that a row without missing values passes in a tree with thresholds only."""
    nodes = [root]
    while forest.feature[nodes[-1]] >= 0:
        h = nodes[-1]
        goes_left = row[forest.feature[h]] <= forest.threshold[h]
        nodes.append(int(forest.left[h] if goes_left else forest.right[h]))
    return nodes


def sources_by_walking(forest: Forest, costs: CostTable, X: np.ndarray) -> np.ndarray:
    """Which sources each row needs: look at every split that it passes."""
    used = np.zeros((len(X), costs.n_sources), dtype=bool)
    for i, row in enumerate(np.asarray(X, dtype=forest.input_dtype)):
        for root in forest.tree_start[:-1]:
            for h in walk(forest, int(root), row)[:-1]:
                k = forest.feature[h]
                used[i, costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]] = True
    return used


def same_trees(one: Forest, other: Forest) -> bool:
    """Are two forests equal, number by number?"""
    names = ("tree_start", "feature", "threshold", "value", "missing_left", "category_set", "base")
    return all(np.array_equal(getattr(one, n), getattr(other, n), equal_nan=True) for n in names)


class Recorder:
    """A scorer that keeps what it is shown."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        self.rows.append(np.asarray(X))
        return float(np.mean(estimator.predict(X) == y))
