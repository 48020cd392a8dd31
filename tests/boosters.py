"""A tiny, obvious Newton booster, and the slow twin of measured gains: both from lists of rows, in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from budgetprune import Forest
from budgetprune.losses import find_loss

N_FEATURES, N_CLASSES = 4, 3
LOSSES = ("squared", "logistic", "softmax", "poisson", "gamma")
# Names of what `boosted` builds: each loss, and what else a boosted forest may be.
KINDS = (
    *LOSSES,
    "softmax, joint",
    "logistic, divided",
    "squared, regularised",
    "logistic, stumps and leaves",
)


@dataclass(frozen=True)
class Boosted:
    """A boosted forest, the rows it was grown on, and fresh ones; targets are numbers of classes."""

    forest: Forest
    X_train: np.ndarray
    y_train: np.ndarray
    weight_train: np.ndarray
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray


def draw_targets(rng: np.random.Generator, loss: str, score: np.ndarray) -> np.ndarray:
    """Targets that the loss is made for."""
    if loss == "logistic":
        return (score > 0).astype(np.int64)
    if loss == "softmax":
        return np.searchsorted([-1.0, 1.0], score)
    if loss == "poisson":
        return rng.poisson(np.exp(0.3 * score)).astype(float)
    return np.exp(0.3 * score) if loss == "gamma" else 3 * score


@dataclass
class Grower:
    """Grows one tree after the other, and remembers all that a `Forest` holds."""

    rng: np.random.Generator
    X: np.ndarray
    weight: np.ndarray
    rate: float
    l2: float
    parent: list[int]
    feature: list[int]
    threshold: list[float]
    value: list[np.ndarray]
    gain: list[float]
    reached: list[float]

    def grow(self, rows: np.ndarray, above: int, depth: int, gradient: Any, curvature: Any) -> float:
        """Grow the subtree of some rows; return the change of the loss that its root's answer makes."""
        h = len(self.parent)
        G, H = (self.weight[rows] @ part[rows] for part in (gradient, curvature))
        answer = -self.rate * G / (H + self.l2)
        change = float((G * answer + H * answer**2 / 2).sum())
        self.parent.append(above)
        self.feature.append(-1)
        self.threshold.append(np.nan)
        self.value.append(answer)
        self.gain.append(0.0)
        self.reached.append(self.weight[rows].sum())
        k = int(self.rng.integers(N_FEATURES))
        middle = float(np.median(self.X[rows, k]))
        left = self.X[rows, k] <= middle
        if depth and len(rows) >= 6 and 0 < self.weight[rows[left]].sum() < self.weight[rows].sum():
            self.feature[h], self.threshold[h] = k, middle
            below = [self.grow(part, h, depth - 1, gradient, curvature) for part in (rows[left], rows[~left])]
            self.gain[h] = (change - sum(below)) / self.weight.sum()
        return change


@cache
def boosted(kind: str, seed: int = 0, n_rounds: int = 4, max_depth: int = 3) -> Boosted:
    """Boost a few small trees with random splits; gains and inner answers are recorded exactly."""
    loss = kind.split(",")[0]
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(70, N_FEATURES)))
    y = draw_targets(rng, loss, X @ [0.5, 1.0, -0.5, 0.2] + rng.normal(size=70))
    weight = rng.integers(0, 4, 70).astype(float)
    n_train = 45
    grower = Grower(
        rng, X[:n_train], weight[:n_train] + 1, 0.3, 2.0 if "regul" in kind else 0.0, *([] for _ in "123456")
    )
    n_outputs = N_CLASSES if loss == "softmax" else 1
    base = rng.normal(size=n_outputs) / 4
    score = np.tile(base, (n_train, 1))
    tree_start, tree_output, tree_round = [0], [], []
    for r in range(n_rounds):
        gradient, curvature = find_loss(loss).derivatives(score, y[:n_train])
        steps = np.zeros_like(score)
        for k in [slice(None)] if "joint" in kind else range(n_outputs):
            columns = k if isinstance(k, slice) else [k]
            depth = r % 2 if "stumps" in kind else max_depth
            grower.grow(np.arange(n_train), -1, depth, gradient[:, columns], curvature[:, columns])
            tree = (grower.parent, grower.feature, grower.threshold)
            for i in range(n_train):
                steps[i, columns] += grower.value[walk(*tree, X[i], tree_start[-1])[-1]]
            tree_start.append(len(grower.parent))
            tree_output.append(-1 if isinstance(k, slice) else k)
            tree_round.append(r)
        score += steps
    divisor = 2.0 if "divided" in kind else 1.0
    forest = build(
        grower,
        tree_start=tree_start,
        value=np.array(grower.value) * divisor,
        base=base * divisor,
        divisor=divisor,
        tree_output=tree_output,
        tree_round=tree_round,
        loss=loss,
        link={"logistic": "logistic", "softmax": "softmax", "squared": "identity"}.get(loss, "exp"),
        label_rule="positive" if loss == "logistic" else "argmax",
        classes={"logistic": np.arange(2), "softmax": np.arange(N_CLASSES)}.get(loss),
    )
    parts = (X, y, weight + 1)
    fresh = (X[n_train:], y[n_train:], weight[n_train:])
    return Boosted(forest, *(part[:n_train] for part in parts), *fresh)


def build(grower: Grower, **others: Any) -> Forest:
    """Put what was grown into a `Forest`."""
    parent, feature = np.array(grower.parent), np.array(grower.feature)
    node = np.arange(parent.size)
    right = np.full(parent.size, -1)
    is_right = (parent >= 0) & (parent != node - 1)
    right[parent[is_right]] = node[is_right]
    return Forest(
        parent=parent,
        left=np.where(feature >= 0, node + 1, -1),
        right=right,
        feature=feature,
        threshold=grower.threshold,
        missing_left=np.zeros(parent.size, bool),
        category_set=np.full(parent.size, -1),
        category_start=[0],
        category_bits=[],
        weight=grower.reached,
        class_weight=None,
        variance=None,
        n_features=N_FEATURES,
        feature_names=None,
        input_dtype=np.dtype(np.float64),
        missing="forbidden",
        origin=None,
        origin_node=node,
        split_gain=grower.gain,
        **others,
    )


def walk(parent: Any, feature: Any, threshold: Any, row: np.ndarray, root: int) -> list[int]:
    """Nodes that a row passes in the tree with this root, from the root to a leaf."""
    nodes = [root]
    while feature[nodes[-1]] >= 0:
        h = nodes[-1]
        children = [c for c in range(h + 1, len(parent)) if parent[c] == h][:2]
        nodes.append(children[0] if row[feature[h]] <= threshold[h] else children[1])
    return nodes


def gains_by_definition(forest: Forest, X: np.ndarray, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """L_h - L_left - L_right of each split, where L_h = G v + H v^2 / 2 on the rows that reach h."""
    arrays = forest.parent.tolist(), forest.feature, forest.threshold
    ways = [[walk(*arrays, row, int(root)) for row in X] for root in forest.tree_start[:-1]]
    change = np.zeros(forest.n_nodes)
    for t in range(forest.n_trees):
        for i in range(len(X)):
            score = forest.base.copy()
            for s in range(forest.n_trees):
                if forest.tree_round[s] < forest.tree_round[t]:
                    score[outputs(forest, s)] += answer(forest, s, ways[s][i][-1])
            by_row = find_loss(forest.loss).derivatives(score[np.newaxis] / forest.divisor, target[i : i + 1])
            g, c = (weight[i] * part[0, outputs(forest, t)] for part in by_row)
            for h in ways[t][i]:
                v = answer(forest, t, h) / forest.divisor
                change[h] += (g * v + c * v**2 / 2).sum()
    gain = np.zeros(forest.n_nodes)
    for h in np.flatnonzero(forest.is_split):
        gain[h] = change[h] - change[forest.left[h]] - change[forest.right[h]]
    return gain


def outputs(forest: Forest, t: int) -> Any:
    """The outputs that tree t feeds."""
    return slice(None) if forest.tree_output[t] < 0 else [int(forest.tree_output[t])]


def answer(forest: Forest, t: int, h: int) -> np.ndarray:
    """What node h of tree t answers, one number for each output that the tree feeds."""
    return forest.value[h] if forest.tree_output[t] < 0 else forest.value[h, :1]


def with_other_answers(forest: Forest, seed: int = 0) -> Forest:
    """The same leaves, but inner nodes that answer anything: then gains may be negative."""
    noise = np.random.default_rng(seed).normal(size=forest.value.shape) / 3
    value = np.where(forest.is_split[:, np.newaxis], forest.value + noise, forest.value)
    return replace(forest, value=value, split_gain=None)
