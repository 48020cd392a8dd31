"""Answers by votes and by sums, at points of a path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, PruningProblem
from budgetprune.selection import LabelledRows
from budgetprune_experiments.voting import SUM, VOTE, answer, points


def test_confident_trees_outvote_in_sums_only():
    """Two trees that are nearly sure of one class, and three that lean to the other."""
    X = np.zeros((40, 1), dtype=np.float32)
    shares = [(0.9, 0.1), (0.9, 0.1), (0.4, 0.6), (0.4, 0.6), (0.4, 0.6)]
    y = np.arange(40) % 2
    forest = Forest.from_model(RandomForestClassifier(5, random_state=0, bootstrap=False).fit(X, y))
    forest = replace(forest, value=np.array(shares))
    rows = LabelledRows(X[:3], np.array([0, 0, 1]))
    found = answer(forest, rows)
    assert found == {"cost": 0.0, "tied": 0.0, SUM: pytest.approx(2 / 3), VOTE: pytest.approx(1 / 3)}


def test_points_are_nearest_to_their_shares_and_appear_once():
    X, y = make_classification(300, 8, n_informative=5, random_state=0)
    model = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    path = PruningProblem(Forest.from_model(model), X[200:]).path()
    found = dict(points(path))
    assert found.pop("unpruned") is path.forest
    sizes = [forest.n_splits for forest in found.values()]
    assert sizes == sorted(set(sizes))
    assert 0 < sizes[0] < sizes[-1]
