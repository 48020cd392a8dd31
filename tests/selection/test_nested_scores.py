"""Scores of nested prunings, against the scores of each pruned forest."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from budgetprune.forest import Forest
from budgetprune.selection.nested_scores import scores_of_nested_prunings

pytestmark = pytest.mark.uncompiled

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
MODELS = [
    RandomForestClassifier(3, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=2, random_state=0),  # each tree feeds one output
]


@pytest.mark.parametrize("model", MODELS, ids=["all outputs", "one output"])
def test_scores_are_those_of_the_pruned_forests(model):
    forest = Forest.from_model(model.fit(X, Y))
    rng, n_points = np.random.default_rng(0), 5
    until = np.where(forest.is_split, rng.integers(0, n_points + 1, forest.n_nodes), 0)
    for h in range(forest.n_nodes):
        if forest.parent[h] >= 0:
            until[h] = min(until[h], until[forest.parent[h]])
    scores = scores_of_nested_prunings(
        forest.leaves_by_tree(forest.prepare_rows(X)),
        forest.parent,
        until,
        n_points,
        forest.value,
        forest.tree_output,
        forest.base,
    )
    for j in range(n_points):
        assert np.array_equal(scores[j] / forest.divisor, forest.prune(until > j).scores(X))
