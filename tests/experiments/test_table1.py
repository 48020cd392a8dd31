"""Table 1: uses are counted right, and the pruning is chosen on validation rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, PruningProblem
from budgetprune.selection import LabelledRows
from budgetprune_experiments.table1 import (
    AFTER,
    BEFORE,
    ERROR_ADDED,
    Table1,
    cheapest_as_good,
    nearest_to_paper,
    usage,
)
from budgetprune_experiments.usage import count_uses


@pytest.fixture(scope="module")
def grown():
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    model = RandomForestClassifier(5, random_state=0).fit(X[:250], y[:250])
    return model, LabelledRows(X[250:400], y[250:400])


def test_uses_are_the_splits_that_a_row_passes(grown):
    model, rows = grown
    expected = np.zeros(rows.X.shape, dtype=int)
    for tree in model.estimators_:
        for i, node in zip(*tree.decision_path(rows.X).nonzero(), strict=True):
            if tree.tree_.feature[node] >= 0:
                expected[i, tree.tree_.feature[node]] += 1
    forest = Forest.from_model(model)
    np.testing.assert_array_equal(count_uses(forest, rows.X), expected)
    shares = usage(forest, rows.X)
    np.testing.assert_allclose(shares[:, 0], (expected == 0).mean(axis=0))
    np.testing.assert_allclose(shares[:, 1], ((expected > 0) & (expected <= 7)).mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_forest_without_splits_uses_nothing(grown):
    model, rows = grown
    forest = Forest.from_model(model)
    assert not count_uses(forest.prune(np.zeros(forest.n_nodes, dtype=bool)), rows.X).any()


def test_the_pruning_is_the_last_that_is_as_good(grown):
    model, rows = grown
    path = PruningProblem(Forest.from_model(model), rows.X).path()
    k = cheapest_as_good(path, rows)

    def accuracy(forest):
        return np.mean(forest.predict(rows.X) == rows.y)

    assert accuracy(path[k].forest) >= accuracy(path.forest) - ERROR_ADDED
    assert k + 1 == len(path) or accuracy(path[k + 1].forest) < accuracy(path.forest) - ERROR_ADDED


def test_the_feature_that_is_nearest_to_the_papers_is_highlighted():
    before = [[0.5, 0.5, 0.0], [0.08, 0.91, 0.01], [0.0, 1.0, 0.0]]
    after = [[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.0, 1.0, 0.0]]
    assert nearest_to_paper(np.array(before)) == 1
    records = [
        {"method": name, "seed": 0, "test_cost": cost, "test_score": 0.9, "usage": shares}
        for name, cost, shares in ((BEFORE, 3.0, before), (AFTER, 2.0, after))
    ]
    summary, features = Table1().tables(records, None)
    assert features.highlight == {1}
    assert features.rows[1] == ["1", "8.0", "91.0", "1.0", "70.0", "30.0", "0.0"]
    assert summary.rows[0][1:] == ["8.0", "91.0", "1.0", "3.0", "10.0"]
    assert summary.rows[1][1:] == ["7.3", "91.7", "1.0", "42.0", "6.6"]
    assert summary.rows[2][1:] == ["70.0", "30.0", "0.0", "2.0", "10.0"]
