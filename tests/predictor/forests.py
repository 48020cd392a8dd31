"""Small random forests of every kind, their prices and their rows: all on a grid, so that ties happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, FeatureCosts, Forest

from ..solvers.strategies import generators, random_costs

# Values of features are 0, 1, 2, 3: thresholds are between them, and at them.
GRID = 4
THRESHOLDS = [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, np.inf]
LETTERS = ("a", "b", "c", "d")

KINDS = {
    # link, number of classes, whether each tree feeds a single output
    "votes": ("identity", 2, False),
    "votes, nonnegative": ("identity", 2, False),
    "averaged": ("identity", 2, False),
    "averaged, three classes": ("identity", 3, False),
    "averaged, one class": ("identity", 1, False),
    "boosted": ("logistic", 2, True),
    "boosted, nonnegative": ("logistic", 2, True),
    "boosted, three classes": ("softmax", 3, True),
    "boosted, an output per class": ("softmax", 2, True),
    "softmax": ("softmax", 2, False),
    "softmax, three classes": ("softmax", 3, False),
    "softmax, some trees feed one": ("softmax", 3, None),
    "two scores, some trees feed one": ("softmax", 2, None),
    "regression": ("identity", 0, False),
    "regression, exp": ("exp", 0, True),
}


@dataclass(frozen=True)
class Case:
    """A forest with prices, and rows as a table and as mappings by name."""

    forest: Forest
    costs: Any
    rows: np.ndarray

    def predictor(self, **settings: Any) -> BudgetPredictor:
        return BudgetPredictor(self.forest, self.costs, **settings)

    def named(self, i: int) -> dict[str, Any]:
        """A row as someone would write it: by name, categories as letters, None where nothing is known."""
        names = self.forest.feature_names or tuple(f"x{k}" for k in range(self.forest.n_features))
        return {name: spoken(self.forest, k, self.rows[i, k]) for k, name in enumerate(names)}


def spoken(forest: Forest, k: int, x: float) -> Any:
    """A value of feature k as someone would write it."""
    if np.isnan(x):
        return None
    if forest.categories is None or forest.categories[k] is None:
        return float(x)
    known = forest.categories[k]
    return known[int(x)] if x < len(known) else "never seen"


def random_forest(
    rng: np.random.Generator, kind: str, n_features: int, n_trees: int, has_categories: bool | None = None
) -> Forest:
    """Trees of up to seven splits each.

    Answers are whole numbers, or tenths, which do not add up exactly. What inner nodes answer has nothing to
    do with the leaves below them.
    """
    link, n_classes, feeds_one = KINDS[kind]
    n_outputs = 1 if link == "logistic" else max(n_classes, 1)
    if has_categories is None:
        has_categories = rng.random() < 0.3
    by_category = rng.random(n_features) < (0.5 if has_categories else 0.0)
    tree_start, parent, feature, right = [0], [], [], []

    def grow(above: int, n_splits: int) -> None:
        h = len(parent)
        parent.append(above)
        feature.append(int(rng.integers(n_features)) if n_splits else -1)
        right.append(-1)
        if n_splits:
            in_left = int(rng.integers(n_splits))
            grow(h, in_left)
            right[h] = len(parent)
            grow(h, n_splits - 1 - in_left)

    for _ in range(n_trees):
        grow(-1, int(rng.choice(8, p=[0.05, 0.05, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2])))
        tree_start.append(len(parent))
    n_nodes, columns = len(parent), np.array(feature)
    is_split = columns >= 0
    in_set = is_split & by_category[columns]
    tree_output = output_of_trees(rng, feeds_one, n_outputs, n_trees)
    return Forest(
        tree_start=tree_start,
        parent=parent,
        left=np.where(is_split, np.arange(n_nodes) + 1, -1),
        right=right,
        feature=feature,
        threshold=np.where(is_split & ~in_set, rng.choice(THRESHOLDS, n_nodes), np.nan),
        missing_left=is_split & (rng.random(n_nodes) < 0.5),
        category_set=np.where(in_set, np.cumsum(in_set) - 1, -1),
        category_start=np.arange(in_set.sum() + 1),
        category_bits=rng.integers(0, 2**GRID, in_set.sum()),
        value=random_answers(rng, kind, n_nodes, 1 if feeds_one else n_outputs),
        weight=rng.integers(0, 9, n_nodes) / 2,
        class_weight=None,
        variance=None,
        tree_output=tree_output,
        base=np.zeros(n_outputs) if link == "identity" else rng.integers(-2, 3, n_outputs) / 4,
        divisor=float(n_trees) if feeds_one is False else 1.0,
        link=link,
        label_rule="nonnegative" if "non" in kind else "positive" if link == "logistic" else "argmax",
        classes=np.array(["no", "yes", "maybe"])[:n_classes] if n_classes else None,
        n_features=n_features,
        feature_names=None,
        input_dtype=np.dtype(rng.choice(["float32", "float64"])),
        missing="nan" if has_categories else str(rng.choice(["forbidden", "nan", "nan-or-zero"])),
        origin=None,
        origin_node=np.arange(n_nodes),
        categories=tuple(LETTERS if by else None for by in by_category) if has_categories else None,
    )


def stumps(n_features: int, names: tuple[str, ...] | None = None, **others: Any) -> Forest:
    """A tree for each feature, whose value moves the target by 1, 2, 4, ... or not."""
    k = np.arange(n_features)
    is_split = np.tile([True, False, False], n_features)
    fields = {
        "tree_start": 3 * np.arange(n_features + 1),
        "parent": np.column_stack([k - k - 1, 3 * k, 3 * k]).ravel(),
        "left": np.where(is_split, np.arange(3 * n_features) + 1, -1),
        "right": np.where(is_split, np.arange(3 * n_features) + 2, -1),
        "feature": np.where(is_split, np.repeat(k, 3), -1),
        "threshold": np.where(is_split, 0.5, np.nan),
        "missing_left": is_split,
        "category_set": np.full(3 * n_features, -1),
        "category_start": [0],
        "category_bits": [],
        "value": np.outer(2.0**k, [0.5, 0.0, 1.0]).reshape(-1, 1),
        "weight": np.tile([2.0, 1.0, 1.0], n_features),
        "class_weight": None,
        "variance": None,
        "tree_output": np.full(n_features, -1),
        "base": [0.0],
        "divisor": 1.0,
        "link": "identity",
        "label_rule": "argmax",
        "classes": None,
        "n_features": n_features,
        "feature_names": names,
        "input_dtype": np.dtype(np.float64),
        "missing": "nan",
        "origin": None,
        "origin_node": np.arange(3 * n_features),
    }
    return Forest(**(fields | others))


def output_of_trees(
    rng: np.random.Generator, feeds_one: bool | None, n_outputs: int, n_trees: int
) -> np.ndarray:
    if feeds_one is None:
        return rng.integers(-1, n_outputs, n_trees)
    return np.arange(n_trees) % n_outputs if feeds_one else np.full(n_trees, -1)


def random_answers(rng: np.random.Generator, kind: str, n_nodes: int, n_columns: int) -> np.ndarray:
    if kind.startswith("votes"):
        return np.eye(n_columns)[rng.integers(0, n_columns, n_nodes)]
    if kind.startswith("averaged"):
        counts = rng.integers(0, 4, (n_nodes, n_columns)) + np.eye(n_columns)[0]
        return counts / counts.sum(axis=1, keepdims=True)
    return rng.integers(-4, 5, (n_nodes, n_columns)) / rng.choice([1, 4, 10])


def random_rows(rng: np.random.Generator, forest: Forest, n_rows: int) -> np.ndarray:
    """Rows on the grid, with one category more than the forest knows; missing values where it allows them."""
    rows = rng.integers(0, GRID, (n_rows, forest.n_features)).astype(float)
    for k, known in enumerate(forest.categories or ()):
        if known is not None:
            unknown = rng.random(n_rows) < 0.1
            rows[unknown, k] = np.nan  # as tables of categories are read
    if forest.missing != "forbidden":
        rows[rng.random(rows.shape) < 0.15] = np.nan
    return rows


def random_bundles(rng: np.random.Generator, n_features: int) -> FeatureCosts:
    """Features that need up to three of four sources; none of these is free."""
    names = np.array(["p", "q", "r", "s"])
    needs = {k: rng.choice(names, rng.integers(1, 4), replace=False).tolist() for k in range(n_features)}
    return FeatureCosts.from_sources(
        dict(zip(names.tolist(), rng.choice([1, 2, 0.3], 4), strict=True)), needs
    )


# In some price lists every source has a price, so that nothing is at hand from the start.
PRICED = ("unit", "groups only", "bundles")
PRICES = (*PRICED, "own", "groups", "sources")


@st.composite
def cases(draw: st.DrawFn, kinds: Any = tuple(KINDS), prices: Any = PRICES, n_rows: int = 6) -> Case:
    """A forest of one of these kinds, a price list, and rows."""
    rng, kind, how = draw(generators), draw(st.sampled_from(kinds)), draw(st.sampled_from(prices))
    n_features, n_trees = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    forest = random_forest(rng, kind, n_features, n_trees)
    costs = random_bundles(rng, n_features) if how == "bundles" else random_costs(rng, how, n_features)
    return Case(forest, costs, random_rows(rng, forest, n_rows))


CLASSIFIERS = tuple(kind for kind, (_, n_classes, _) in KINDS.items() if n_classes)
TWO_CLASSES = tuple(kind for kind, (_, n_classes, _) in KINDS.items() if n_classes == 2)
REGRESSIONS = tuple(kind for kind, (_, n_classes, _) in KINDS.items() if not n_classes)


# --- Who brings values --------------------------------------------------------------------------------------


def by_source(
    predictor: BudgetPredictor, row: Mapping[str, Any], asked: list[str] | None = None
) -> Callable[[str], Any]:
    """A fetch that brings all features of a source, also those that need others too."""

    def fetch(source: str) -> Any:
        if asked is not None:
            asked.append(source)
        return {name: row[name] for name in predictor.features_of(source)}

    return fetch


class LookedUp(Mapping):
    """A mapping that is not a dictionary, and knows what it was asked for."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row, self.asked = row, set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return self.row[name]

    def __iter__(self):
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)

    def __contains__(self, name: object) -> bool:
        return name in self.row
