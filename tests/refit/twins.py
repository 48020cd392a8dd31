"""Slow, obvious twins of the refit: dense matrices, losses written out, general-purpose optimisers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import minimize as scipy_minimise

from budgetprune import Forest
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Sample
from budgetprune.refit.leaves import Leaves

from ..boosters import boosted


def design(leaves: Leaves) -> np.ndarray:
    """The matrix Z, dense: of shape (n_rows, n_outputs, n_leaves, n_values)."""
    output = leaves.forest.tree_output
    Z = np.zeros((*leaves.score.shape, *leaves.value.shape))
    for t, stop in enumerate(leaves.stop):
        for i, leaf in enumerate(stop):
            for k in range(leaves.value.shape[1]) if output[t] < 0 else [0]:
                Z[i, k if output[t] < 0 else output[t], leaf, k] = 1.0
    return Z


def loss_of_row(loss: str, s: np.ndarray, y: Any) -> tuple[float, np.ndarray]:
    """Loss of one row, and its gradient by the row's scores."""
    match loss:
        case "squared":
            return (s[0] - y) ** 2 / 2, s - y
        case "logistic":
            return np.logaddexp(0.0, s[0]) - y * s[0], 1 / (1 + np.exp(-s)) - y
        case "poisson":
            return np.exp(s[0]) - y * s[0], np.exp(s) - y
        case "gamma":
            return y * np.exp(-s[0]) + s[0], 1 - y * np.exp(-s)
        case "softmax":
            p = np.exp(s) / np.exp(s).sum()
            return -np.log(p[y]), p - np.eye(s.size)[y]
    raise AssertionError(loss)


@dataclass(frozen=True)
class Twin:
    """The objective of a refit, as a function of all shifts in one long array."""

    leaves: Leaves
    loss: str
    target: np.ndarray
    weight: np.ndarray
    ridge: float

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        Z = design(self.leaves).reshape(*self.leaves.score.shape, -1)
        scores = self.leaves.score + Z @ x
        rows = [loss_of_row(self.loss, s, y) for s, y in zip(scores, self.target, strict=True)]
        value = self.weight @ [value for value, _ in rows] + self.ridge * x @ x / 2
        by_score = self.weight[:, np.newaxis] * np.array([gradient for _, gradient in rows])
        return value, np.einsum("ik,ikj->j", by_score, Z) + self.ridge * x

    def best(self) -> np.ndarray:
        """Shifts with the least value, as a general-purpose optimiser finds them."""
        start = np.zeros(self.leaves.value.size)
        found = scipy_minimise(
            self, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 2000, "xrtol": 0}
        )
        assert np.abs(found.jac).max() < 1e-5
        return found.x


@dataclass(frozen=True)
class Small:
    """A small problem: a forest, a pruning of it, and rows."""

    pruning: Pruning
    sample: Sample
    leaves: Leaves

    @property
    def forest(self) -> Forest:
        return self.pruning.forest


def pruned(forest: Forest, keep: np.ndarray) -> Pruning:
    return Pruning(forest, keep, np.nan, np.nan, np.nan)


def random_pruning(forest: Forest, seed: int, probability: float = 0.8) -> Pruning:
    """Each split stays with the given probability if its parent does."""
    keep = forest.is_split & (np.random.default_rng(seed).random(forest.n_nodes) < probability)
    for h in range(forest.n_nodes):
        keep[h] &= forest.parent[h] < 0 or keep[forest.parent[h]]
    return pruned(forest, keep)


@cache
def small_boosted(kind: str, seed: int = 0) -> Small:
    """A pruned booster, and rows that it was not grown on, with weights of which some are 0."""
    case = boosted(kind, seed, n_rounds=2, max_depth=2)
    sample = Sample.of(case.forest, case.X, case.y, case.weight)
    pruning = random_pruning(case.forest, seed)
    return Small(pruning, sample, sample.leaves(pruning))
