"""Hypothesis strategies: small problems of every kind, drawn node by node or grown by scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.uncompiled import UNCOMPILED

from budgetprune import FeatureCosts, Forest, PruningProblem

from .oracles import Case, enumerate_prunings

N_CLASSES = 2


def examples(number: int) -> settings:
    """Try this many examples, the same in every run; fewer where kernels are plain Python."""
    return settings(
        max_examples=max(8, number // 4) if UNCOMPILED else number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def build_forest(
    tree_start: Any, parent: Any, feature: Any, threshold: Any, value: Any, class_weight: Any, n_features: int
) -> Forest:
    """Make a classifier of trees that nobody grew, from parents in pre-order."""
    parent, feature = np.array(parent), np.array(feature)
    node = np.arange(len(parent))
    left = np.where(feature >= 0, node + 1, -1)
    right = np.full(len(parent), -1)
    is_right = (parent >= 0) & (parent != node - 1)
    right[parent[is_right]] = node[is_right]
    return Forest(
        tree_start=tree_start,
        parent=parent,
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        missing_left=np.zeros(len(parent), bool),
        category_set=np.full(len(parent), -1),
        category_start=[0],
        category_bits=[],
        value=value,
        weight=np.sum(class_weight, axis=1),
        class_weight=class_weight,
        variance=None,
        tree_output=np.full(len(tree_start) - 1, -1),
        base=np.zeros(N_CLASSES),
        divisor=len(tree_start) - 1,
        link="identity",
        label_rule="argmax",
        classes=np.arange(N_CLASSES),
        n_features=n_features,
        feature_names=None,
        input_dtype=np.dtype(np.float32),
        missing="forbidden",
        origin=None,
        origin_node=node,
    )


# Shrinking a generator's seed is vain, but entries drawn one by one by hypothesis are too much alike: most
# problems would have a path of one point.
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def random_forest(rng: np.random.Generator, n_features: int, n_trees: int, is_fitted: bool) -> Forest:
    """Trees of up to five splits each.

    Counts of classes add up from the leaves. What a node answers agrees with its counts (so that no in-bag
    gain is negative) or is drawn on its own (so that any may be).
    """
    parent: list[int] = []
    feature: list[int] = []
    counts: list[np.ndarray] = []

    def grow(above: int, n_splits: int) -> np.ndarray:
        h = len(parent)
        parent.append(above)
        feature.append(rng.integers(n_features) if n_splits else -1)
        counts.append(rng.integers(0, 5, N_CLASSES) + (rng.permutation(N_CLASSES) == 0))
        if n_splits:
            in_left = rng.integers(n_splits)
            counts[h] = grow(h, in_left) + grow(h, n_splits - 1 - in_left)
        return counts[h]

    tree_start = [0]
    for _ in range(n_trees):
        grow(-1, rng.choice(6, p=[0.05, 0.05, 0.2, 0.2, 0.2, 0.3]))
        tree_start.append(len(parent))
    class_weight = np.array(counts, dtype=float)
    answers = class_weight if is_fitted else rng.permuted([[1, 3]] * len(parent), axis=1)
    return build_forest(
        tree_start=tree_start,
        parent=parent,
        feature=feature,
        threshold=np.where(np.array(feature) < 0, np.nan, rng.choice([0.5, 1.5], len(parent))),
        value=answers / answers.sum(axis=1, keepdims=True),
        class_weight=class_weight,
        n_features=n_features,
    )


drawn_forests = st.builds(random_forest, generators, st.just(2), st.sampled_from([3, 2, 1]), st.booleans())


def random_costs(rng: np.random.Generator, kind: str, n_features: int) -> FeatureCosts | None:
    """Unit costs; own costs, 0 among them; groups with and without own costs; sources needed together."""
    own = rng.choice([0.0, 1.0, 2.0, 0.3], n_features)
    if kind == "unit":
        return None
    if kind == "own":
        return FeatureCosts(own)
    if kind == "sources":
        needs = [None, "a", "b", ("a", "b"), ("b", "c"), ("a", "c", "free"), "free"]
        return FeatureCosts.from_sources(
            {"a": 1.0, "b": 2.0, "c": 0.1, "free": 0.0},
            {k: needs[rng.integers(len(needs))] for k in range(n_features)},
        )
    names = ["g", "h"] if kind == "groups only" else ["g", "h", None]
    groups = ["g", *(names[rng.integers(len(names))] for _ in range(n_features - 1))]
    group_costs = {g: c for g, c in {"g": 1.5, "h": 0.25}.items() if g in groups}
    return FeatureCosts(own if kind == "groups" else None, groups=groups, group_costs=group_costs)


kinds_of_costs = st.sampled_from(["unit", "own", "groups", "groups only", "sources"])


def random_weight(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Small whole numbers, 0 among them, but not all."""
    return rng.integers(0, 3, n_rows) + (np.arange(n_rows) == 0)


@st.composite
def drawn_cases(
    draw: st.DrawFn, n_features: int | None = None, n_trees: int | None = None, **fixed: Any
) -> Case:
    """A problem whose forest, rows, labels, weights and prices are drawn, and all its prunings.

    Rows may be equal, and may weigh nothing.

    Parameters
    ----------
    n_features, n_trees : int, optional
    **fixed
        Options of the problem that are not drawn.
    """
    rng = draw(generators)
    n_features = n_features or int(rng.integers(1, 5))
    n_trees = n_trees or int(rng.integers(1, 4))
    n_rows = int(rng.integers(1, 9))
    X = rng.integers(0, 3, (n_rows, n_features)).astype(float)
    y = rng.integers(0, N_CLASSES, n_rows)
    options = {
        "costs": random_costs(rng, draw(kinds_of_costs), n_features),
        "error": draw(st.sampled_from(["in-bag", "held-out"])),
        "loss": draw(st.sampled_from(["misclassification", "brier"])),
        "sample_weight": random_weight(rng, n_rows) if draw(st.booleans()) else None,
        "computation_weight": draw(st.sampled_from([0.0, 0.0, 0.1])),
    } | fixed
    forest = random_forest(rng, n_features, n_trees, draw(st.booleans()))
    problem = PruningProblem(forest, X, y, **options)
    return Case(problem, X, enumerate_prunings(problem, X, options["computation_weight"]))


@st.composite
def grown_cases(draw: st.DrawFn) -> Case:
    """A problem whose forest scikit-learn grew on small integers, and all its prunings.

    Classifiers and regressors; every estimate of errors and every loss.
    """
    rng = draw(generators)
    n_features = int(rng.integers(1, 5))
    n_train, n_rows = 24, int(rng.integers(1, 9))
    X = rng.integers(0, 3, (n_train + n_rows, n_features)).astype(float)
    is_classifier = draw(st.booleans())
    y = rng.integers(0, 3, len(X))
    y[:3] = 0, 1, 2
    model = RandomForestClassifier if is_classifier else RandomForestRegressor
    model = model(
        n_estimators=int(rng.integers(1, 4)),
        max_leaf_nodes=int(rng.integers(2, 7)),
        random_state=int(rng.integers(100)),
    ).fit(X[:n_train], y[:n_train])
    computation_weight = draw(st.sampled_from([0.0, 0.05]))
    problem = PruningProblem(
        Forest.from_model(model),
        X[n_train:],
        y[n_train:],
        costs=random_costs(rng, draw(kinds_of_costs), n_features),
        error=draw(st.sampled_from(["in-bag", "out-of-bag", "held-out", "pooled"])),
        loss=draw(st.sampled_from(["misclassification", "brier"])) if is_classifier else "squared",
        X_train=X[:n_train],
        y_train=y[:n_train],
        sample_weight=random_weight(rng, n_rows) if draw(st.booleans()) else None,
        computation_weight=computation_weight,
    )
    return Case(problem, X[n_train:], enumerate_prunings(problem, X[n_train:], computation_weight))


def boosted_forest(rng: np.random.Generator, n_features: int, n_trees: int, has_ties: bool) -> Forest:
    """Trees that add up to a score, with answers, and gains on record, that may do harm.

    Gains that are small whole numbers cancel exactly; others never do.
    """
    forest = random_forest(rng, n_features, n_trees, is_fitted=True)
    other = rng.normal(0.3, 1.0, forest.n_nodes) * rng.choice([1.0, 1e-3, 1e3])
    gain = rng.integers(-2, 5, forest.n_nodes) if has_ties else other
    return replace(
        forest,
        value=rng.normal(size=(forest.n_nodes, 1)) / 2,
        tree_output=np.zeros(n_trees),
        base=[0.1],
        divisor=1.0,
        link="logistic",
        label_rule="positive",
        class_weight=None,
        loss="logistic",
        tree_round=np.arange(n_trees),
        split_gain=np.where(forest.is_split, gain, 0.0),
    )


@st.composite
def boosted_cases(draw: st.DrawFn) -> Case:
    """A problem of boosted trees, with recorded or measured gains of any sign, and all its prunings."""
    rng = draw(generators)
    n_features, n_trees, n_rows = (int(rng.integers(1, most)) for most in (5, 4, 9))
    X = rng.integers(0, 3, (n_rows, n_features)).astype(float)
    y = rng.integers(0, N_CLASSES, n_rows)
    computation_weight = draw(st.sampled_from([0.0, 0.0, 0.1]))
    problem = PruningProblem(
        boosted_forest(rng, n_features, n_trees, draw(st.booleans())),
        X,
        y,
        costs=random_costs(rng, draw(kinds_of_costs), n_features),
        error=draw(st.sampled_from(["in-bag", "held-out", "pooled"])),
        X_train=X[::-1],
        y_train=y,
        sample_weight=random_weight(rng, n_rows) if draw(st.booleans()) else None,
        computation_weight=computation_weight,
    )
    return Case(problem, X, enumerate_prunings(problem, X, computation_weight))


cases = st.one_of(drawn_cases(), grown_cases(), boosted_cases())
