"""Small problems, and critical lambdas for paths that no solver computes."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune import FeatureCosts, Forest, PruningProblem

COSTS = FeatureCosts([2, 1, 3, 0.5])


def build_problem(classes=("no", "yes"), regression=False, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    score = X @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=90)
    model = RandomForestRegressor if regression else RandomForestClassifier
    y = score if regression else np.asarray(classes)[(score > 0).astype(int)]
    model = model(3, max_depth=3, random_state=0).fit(X[:60], y[:60])
    return PruningProblem(Forest.from_model(model), X[60:], costs=COSTS, **options)


def nested(forest, top=0.1):
    """Critical lambdas as a solver may find them: children never above their parents."""
    critical = np.where(forest.is_split, np.random.default_rng(1).integers(0, 8, forest.n_nodes) / 100, 0.0)
    critical[forest.tree_start[:-1]] = top
    for h in np.flatnonzero(forest.parent >= 0):
        critical[h] = min(critical[h], critical[forest.parent[h]])
    return critical
