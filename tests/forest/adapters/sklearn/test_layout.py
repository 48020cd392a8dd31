"""Damaged models of scikit-learn are refused, naming the tree and the node."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from budgetprune import Forest

from ..refusals import X, Y, refuse


def with_node(tree: Any, field: str, node: int, entry: Any) -> None:
    """Change a node of a fitted decision tree, as unpickling a file would."""
    inner = tree.tree_
    state = inner.__getstate__()
    state["nodes"][field][node] = entry
    inner.__setstate__(state)


@pytest.mark.parametrize(
    ("field", "entry", "words"),
    [
        ("left_child", 0, "node 0 of tree 1 has the left child 0"),
        ("left_child", -9, "node 0 of tree 1 has the left child -9"),
        ("right_child", 10**9, "node 0 of tree 1 has the right child 1000000000"),
        ("feature", 4, "node 0 of tree 1 splits by the feature 4"),
        ("feature", -3, "node 0 of tree 1 splits by the feature -3"),
        ("threshold", np.nan, "threshold must not be NaN .*in tree 1"),
    ],
)
@pytest.mark.parametrize("kind", [RandomForestClassifier, GradientBoostingClassifier, BaggingClassifier])
def test_decision_trees(kind, field, entry, words):
    model = kind(n_estimators=3, random_state=0).fit(X, Y)
    with_node(np.ravel(model.estimators_)[1], field, 0, entry)
    refuse(model, words)


def test_bags_whose_trees_saw_other_columns():
    model = BaggingClassifier(DecisionTreeClassifier(), 2, max_features=2, random_state=0).fit(X, Y)
    for columns in ([0, 1, 2], [0], [0, -1]):
        broken = copy.deepcopy(model)
        broken.estimators_features_[1] = np.array(columns)
        refuse(broken, "columns that the ensemble records")
    model.estimators_features_[1] = np.array([0, 9])
    refuse(model, "feature must be below 4")


def test_more_labels_than_classes():
    model = RandomForestClassifier(2, random_state=0).fit(X, np.median(Y) < Y)
    model.classes_ = np.array([0, 1, 2])
    refuse(model, "3 labels for 2 classes")


def test_trees_that_know_other_classes():
    model = RandomForestClassifier(2, random_state=0).fit(X, X[:, 3].astype(int))
    model.estimators_[0].classes_ = np.array([0, 1, 9])
    refuse(model, "classes that the ensemble does not have")


def hist() -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[3], min_samples_leaf=5)
    return model.fit(X, (X[:, 3] % 2 + X[:, 0] > 0.5).astype(int))


@pytest.mark.parametrize(
    ("field", "entry", "words"),
    [
        ("left", 0, "node 0 of tree 1 has one child only"),
        ("right", 10**6, "node 0 of tree 1 has the right child 1000000"),
        ("feature_idx", 4, "node 0 of tree 1 splits by the feature 4"),
        ("is_leaf", 1, "node 0 of tree 1 is both a leaf and a split"),
        ("is_categorical", 1, "node 0 of tree 1 (splits by the categories|has the set of categories)"),
        ("num_threshold", np.nan, "threshold must not be NaN .*in tree 1"),
    ],
)
def test_hist_gradient_boosting(field, entry, words):
    model = hist()
    nodes = model._predictors[1][0].nodes
    nodes["is_categorical"][0], nodes["feature_idx"][0], nodes["bitset_idx"][0] = 0, 1, 99
    nodes[field][0] = entry
    refuse(model, words)


def test_sets_of_categories_of_hist_gradient_boosting():
    model = hist()
    by_category = [p[0] for p in model._predictors if p[0].nodes["is_categorical"].any()]
    assert by_category
    by_category[0].raw_left_cat_bitsets = by_category[0].raw_left_cat_bitsets[:, :3]
    refuse(model, "256 bits")


def test_an_undamaged_model_is_imported():
    assert Forest.from_model(hist()).n_trees == 3
