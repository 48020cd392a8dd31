"""Damaged models of XGBoost are refused, naming the tree and the node."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xgboost as xgb

from budgetprune import Forest, InvalidInputError
from budgetprune.forest.adapters.xgboost.checks import check_ensemble, check_tree, reachable
from budgetprune.forest.adapters.xgboost.model import PER_NODE, PER_SET

from ..damaged import XGBoostStub
from ..refusals import X, Y, refuse

# The libraries are not asked to load damaged models: they may damage the memory of this process.


def damage_xgboost(edit: Callable[[dict[str, Any]], None], name: str = "binary") -> XGBoostStub:
    """Change the document of a model."""
    booster = XGBOOST[name]
    document = json.loads(bytes(booster.save_raw("json")))
    edit(document["learner"])
    return XGBoostStub(json.dumps(document).encode(), booster.save_config())


XGBOOST = {
    "binary": xgb.train({"objective": "binary:logistic", "max_depth": 3}, xgb.DMatrix(X, Y), 3),
    "categories": xgb.train(
        {"objective": "binary:logistic", "max_depth": 3},
        xgb.DMatrix(X, Y, feature_types=["float"] * 3 + ["c"], enable_categorical=True),
        3,
    ),
}


def trees(learner: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = learner["gradient_booster"]["model"]["trees"]
    return found


def set_node(field: str, node: int, entry: Any, tree: int = 0) -> Callable[[dict[str, Any]], None]:
    def edit(learner: dict[str, Any]) -> None:
        trees(learner)[tree][field][node] = entry

    return edit


def set_model(field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda learner: learner["gradient_booster"]["model"].update({field: value})


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (set_node("left_children", 1, 0), "node 1 of tree 0 has the left child 0"),
        (set_node("left_children", 0, 0), "node 0 of tree 0 has the left child 0"),
        (set_node("left_children", 0, 2), "node 1 of tree 0 is the child of 0 splits"),
        (set_node("right_children", 0, 10**6, tree=2), "node 0 of tree 2 has the right child 1000000"),
        (set_node("right_children", 0, -1), "node 0 of tree 0 has one child only"),
        (set_node("split_indices", 0, 4), "node 0 of tree 0 splits by the feature 4"),
        (set_node("split_conditions", 0, float("nan")), "threshold must not be NaN .*in tree 0"),
        (set_model("tree_info", [0, 0, 7]), "tree_info"),
        (set_model("iteration_indptr", [0, 1, 9, 3]), "iteration_indptr"),
    ],
)
def test_xgboost(edit, words):
    refuse(damage_xgboost(edit), words)


def test_xgboost_with_deleted_nodes():
    """Nodes that XGBoost has deleted cannot be reached; links that meet among the others are still found."""
    left, right = np.array([1, 3, -1, -1, -1, -1]), np.array([2, 4, -1, -1, -1, -1])
    assert reachable(0, left, right).tolist() == [0, 1, 2, 3, 4]
    for child in (0, 1, 2):
        left[1] = child
        with pytest.raises(InvalidInputError, match=r"node \d of tree 7 can be reached .* more than one way"):
            reachable(7, left, right)


def test_xgboost_shared_children_take_no_exponential_time():
    n_splits = 60
    both = np.append(np.arange(1, n_splits + 1), np.full(n_splits, -1))
    with pytest.raises(InvalidInputError, match="node 1 of tree 0 can be reached"):
        reachable(0, both, both)


@pytest.mark.parametrize(
    ("n_trees", "changes", "words"),
    [
        (3, {"tree_info": [0, 0]}, "tree_info"),
        (3, {"tree_info": [0, 0, -1]}, "tree_info"),
        (3, {"iteration_indptr": [0, 1, 2]}, "iteration_indptr"),
        (3, {"iteration_indptr": [0, 2, 1, 3]}, "iteration_indptr"),
        (3, {"iteration_indptr": []}, "iteration_indptr"),
    ],
)
def test_xgboost_ensembles(n_trees, changes, words):
    """XGBoost refuses some of these itself, depending on its version."""
    ensemble = {"trees": [{}] * n_trees, "tree_info": [0] * n_trees, "iteration_indptr": [0, 1, n_trees]}
    check_ensemble(ensemble, 1)
    with pytest.raises(InvalidInputError, match=words):
        check_ensemble(ensemble | changes, 1)


def test_xgboost_scores_that_no_tree_makes():
    """A number of classes is a size: of the base score, among others."""

    def seven(learner: dict[str, Any]) -> None:
        learner["learner_model_param"]["num_class"] = "7"
        learner["objective"] = {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": "7"}}

    refuse(damage_xgboost(seven), "3 trees are too few for 7 scores")


@pytest.mark.parametrize(
    ("field", "place", "entry", "words"),
    [
        ("categories_nodes", 0, 10**6, "for nodes that do not exist"),
        ("categories_nodes", 0, -1, "for nodes that do not exist"),
        ("categories_segments", 0, -1, "outside of its list"),
        ("categories_segments", 0, 2**62, "outside of its list"),
        ("categories_sizes", 0, 10**6, "outside of its list"),
        ("categories_sizes", 0, -1, "outside of its list"),
        ("categories", 0, -1, "negative or not below"),
        ("categories", 0, 2**31, "negative or not below"),
        ("split_type", 0, 2, "node 0 of tree 4 has the split type 2"),
        ("categories_sizes", slice(None), [], "without a node"),
        ("parents", slice(None), [], "not as many parents"),
    ],
)
def test_xgboost_trees(field, place, entry, words):
    document = json.loads(bytes(XGBOOST["categories"].save_raw("json")))
    tree = next(tree for tree in trees(document["learner"]) if tree["categories"])
    check_tree(4, tree, PER_NODE, 4)
    tree[field][place] = entry
    with pytest.raises(InvalidInputError, match=words):
        check_tree(4, tree, PER_NODE, 4)


def test_xgboost_splits_without_a_set():
    document = json.loads(bytes(XGBOOST["categories"].save_raw("json")))
    tree = next(tree for tree in trees(document["learner"]) if tree["categories"])
    tree |= {field: [] for field in PER_SET}
    with pytest.raises(InvalidInputError, match="splits by category, but has 0 sets"):
        check_tree(0, tree, PER_NODE, 4)


def test_undamaged_models_are_imported():
    for model in XGBOOST.values():
        assert Forest.from_model(model).n_trees == 3


def test_a_number_of_features_beyond_reason():
    """Names and rows would take gigabytes, whatever the size of the file."""

    def many(learner: dict[str, Any]) -> None:
        learner["learner_model_param"]["num_feature"] = "2000000000"

    refuse(damage_xgboost(many), "n_features must be a whole number from 1 to 10000000")
