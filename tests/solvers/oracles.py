"""The first rung of the ladder of oracles: small problems, and all of their prunings, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from budgetprune.costs import FeatureCosts
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem

from ..boosters import KINDS, boosted, with_other_answers


@dataclass(frozen=True)
class Prunings:
    """All prunings of a forest, and what they are worth."""

    keep: np.ndarray
    error: np.ndarray
    cost: np.ndarray
    computation: np.ndarray

    def objective(self, lam: float) -> np.ndarray:
        return self.error + lam * (self.cost + self.computation)

    def best(self, lam: float) -> float:
        return float(self.objective(lam).min())


def prunings_below(forest: Forest, h: int) -> list[list[int]]:
    """Lists of the splits that stay in the subtree of h: none, or h with any choice in each subtree below."""
    if forest.left[h] < 0:
        return [[]]
    below = product(prunings_below(forest, forest.left[h]), prunings_below(forest, forest.right[h]))
    return [[], *([h, *left, *right] for left, right in below)]


def passes(forest: Forest, X: np.ndarray) -> np.ndarray:
    """Which nodes each row passes, found by walking: bool, of shape (n_rows, n_nodes)."""
    mask = np.zeros((len(X), forest.n_nodes), dtype=bool)
    for (i, x), root in product(enumerate(np.float32(X)), forest.tree_start[:-1]):
        h = root
        mask[i, h] = True
        while forest.left[h] >= 0:
            h = forest.left[h] if x[forest.feature[h]] <= forest.threshold[h] else forest.right[h]
            mask[i, h] = True
    return mask


def enumerate_prunings(problem: PruningProblem, X: np.ndarray, computation_weight: float = 0.0) -> Prunings:
    """List all prunings of a problem whose rows are X, and value each from the definitions."""
    forest, table = problem.forest, problem.costs
    on_way = passes(forest, X)
    needs = np.zeros((forest.n_nodes, table.n_sources), dtype=bool)
    for h in np.flatnonzero(forest.is_split):
        k = forest.feature[h]
        needs[h, table.needs[table.needs_start[k] : table.needs_start[k + 1]]] = True

    keeps = []
    for splits in product(*(prunings_below(forest, root) for root in forest.tree_start[:-1])):
        keep = np.zeros(forest.n_nodes, dtype=bool)
        keep[[h for tree in splits for h in tree]] = True
        keeps.append(keep)
    keep = np.array(keeps)
    is_leaf = ~keep & ((forest.parent < 0) | keep[:, forest.parent])
    cost = [
        problem.row_weight @ ((on_way[:, stays].astype(int) @ needs[stays] > 0) @ table.price)
        for stays in keeps
    ]
    depth = keep @ (problem.row_weight @ on_way)
    return Prunings(keep, is_leaf @ problem.error, np.array(cost), computation_weight * depth)


@dataclass(frozen=True)
class Case:
    """A small random problem, its rows, and its prunings."""

    problem: PruningProblem
    X: np.ndarray
    prunings: Prunings


def random_costs(rng: np.random.Generator, n_features: int) -> Any:
    """Nothing costs anything, or all the same, or not; groups have a price; features need several sources."""
    kind = rng.integers(5)
    own = rng.integers(0, 4, n_features)
    if kind == 0:
        return None
    if kind == 1:
        return FeatureCosts(own)
    if kind == 2:
        return FeatureCosts(np.zeros(n_features))
    if kind == 3:
        return FeatureCosts(own, groups=["a", "a", "b", None][:n_features], group_costs={"a": 2.0, "b": 0.5})
    needs = {k: [s for s in "pqr" if rng.random() < 0.6] or None for k in range(n_features)}
    return FeatureCosts.from_sources({"p": 1.0, "q": 3.0, "r": 0.0}, needs)


@cache
def random_case(seed: int, max_depth: int = 3, n_rows: int = 9) -> Case:
    """Up to three trees; they may be single nodes, rows may be equal or weigh nothing, gains be negative."""
    rng = np.random.default_rng(seed)
    n_features = 4
    X = np.round(rng.normal(size=(40 + n_rows, n_features)), 1)
    X[-1] = X[-2]
    y = (X @ rng.normal(size=n_features) + rng.normal(size=len(X)) > 0).astype(int)
    y[:2] = 0, 1
    model = RandomForestClassifier(
        n_estimators=int(rng.integers(1, 4)),
        max_depth=max_depth,
        max_features=2,
        min_samples_split=int(rng.choice([2, 2, 6, 41])),
        random_state=seed,
    ).fit(X[:40], y[:40])
    weight = rng.integers(0, 3, n_rows).astype(float)
    weight[0] = 1.0
    computation_weight = float(rng.choice([0.0, 0.1]))
    problem = PruningProblem(
        Forest.from_model(model),
        X[40:],
        y[40:],
        costs=random_costs(rng, n_features),
        error=str(rng.choice(["in-bag", "held-out"])),
        sample_weight=weight if rng.random() < 0.5 else None,
        computation_weight=computation_weight,
    )
    return Case(problem, X[40:], enumerate_prunings(problem, X[40:], computation_weight))


@cache
def boosted_case(seed: int) -> Case:
    """Three boosted trees of up to three splits, whose inner nodes answer anything: gains may be negative."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    grown = boosted(kind, seed, n_rounds=1 if kind == "softmax" else 3, max_depth=2)
    computation_weight = float(rng.choice([0.0, 0.1]))
    problem = PruningProblem(
        with_other_answers(grown.forest, seed),
        grown.X,
        grown.y,
        costs=random_costs(rng, grown.forest.n_features),
        error="held-out",
        sample_weight=grown.weight,
        computation_weight=computation_weight,
    )
    return Case(problem, grown.X, enumerate_prunings(problem, grown.X, computation_weight))


# From "everything that gains stays" to "nothing stays", and beyond.
LAMBDAS = (0.0, 1e-3, 0.003, 0.01, 0.02, 0.04, 0.08, 0.2, 1.0, 100.0)
