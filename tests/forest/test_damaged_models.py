"""Models whose links, sizes or indices are wrong: refused with the tree and the node, never walked."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from budgetprune import Forest, InvalidInputError
from budgetprune.forest.adapters.xgboost.checks import check_ensemble, check_tree, reachable
from budgetprune.forest.adapters.xgboost.model import PER_NODE, PER_SET
from budgetprune.forest.topology import in_preorder

from .damage import LightGBMStub, XGBoostStub
from .fuzz_importers import fuzz
from .lightgbm_zoo import SMALL

X = np.random.default_rng(0).normal(size=(120, 4))
X[:, 3] = np.arange(120) % 5
Y = (X[:, 0] + X[:, 1] * (X[:, 3] % 2) > 0).astype(int)


def refuse(model: Any, words: str) -> None:
    with pytest.raises(InvalidInputError, match=f"this model is damaged: .*{words}"):
        Forest.from_model(model)


# --- Links --------------------------------------------------------------------------------------------------


def links(*trees: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    start = np.cumsum([0, *map(len, trees)])
    left, right = np.array([pair for tree in trees for pair in tree], dtype=np.int64).reshape(-1, 2).T
    return start, left, right


LEAF = (-1, -1)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("trees", "words"),
    [
        ([[(1, 2), LEAF, LEAF], [(1, 3), LEAF, LEAF]], "node 0 of tree 1 has the right child 3"),
        ([[(-2, 2), LEAF, LEAF]], "node 0 of tree 0 has the left child -2"),
        ([[(2**62, 2), LEAF, LEAF]], "node 0 of tree 0 has the left child"),
        ([[(1, 2), (0, 2), LEAF]], "node 1 of tree 0 has the left child 0"),
        ([[(1, -1), LEAF]], "node 0 of tree 0 has one child only"),
        ([[(1, 1), LEAF]], "node 1 of tree 0 is the child of 2 splits"),
        ([[(1, 2), LEAF, LEAF, LEAF]], "node 3 of tree 0 is the child of 0 splits"),
        ([[LEAF, (2, 3), (1, 4), LEAF, LEAF]], "node 1 of tree 0 cannot be reached"),
        ([[LEAF], []], "a tree without nodes"),
        ([], "no trees"),
    ],
)
def test_links_that_make_no_trees(trees, words):
    with pytest.raises(InvalidInputError, match=words):
        in_preorder(*links(*trees))


@pytest.mark.nojit
def test_links_in_any_order_are_fine():
    order, parent, left, right = in_preorder(*links([(3, 1), (2, 4), LEAF, LEAF, LEAF], [LEAF]))
    assert order.tolist() == [0, 3, 1, 2, 4, 5]
    assert parent.tolist() == [-1, 0, 0, 2, 2, -1]
    assert left.tolist() == [1, -1, 3, -1, -1, -1]
    assert right.tolist() == [2, -1, 4, -1, -1, -1]


# --- XGBoost ------------------------------------------------------------------------------------------------


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

    refuse(damage_xgboost(seven), "3 trees cannot make 7 scores")


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
        ("parents", slice(None), [], "not so many parents"),
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


# --- LightGBM -----------------------------------------------------------------------------------------------


def damage_lightgbm(edit: Callable[[str], str], name: str = "binary", categories: Any = None) -> LightGBMStub:
    """Change the text of a model."""
    booster = LIGHTGBM[name]
    text = booster.model_to_string()
    changed = edit(text)
    assert changed != text
    return LightGBMStub(changed, categories, tuple(booster.feature_name()))


LIGHTGBM = {
    "binary": lgb.train({**SMALL, "objective": "binary"}, lgb.Dataset(X, Y), 3),
    "categories": lgb.train(
        {**SMALL, "objective": "binary", "min_data_per_group": 1, "max_cat_to_onehot": 1},
        lgb.Dataset(X, (X[:, 3] % 2 == 0).astype(int), categorical_feature=[3]),
        3,
    ),
}


def set_number(key: str, place: int, number: Any) -> Callable[[str], str]:
    """Replace one number of a line in the first tree that has it."""

    def edit(text: str) -> str:
        line = re.search(rf"^{key}=(\S.*)$", text, flags=re.MULTILINE)
        assert line is not None
        numbers = line[1].split(" ")
        numbers[place] = str(number)
        return text[: line.start(1)] + " ".join(numbers) + text[line.end(1) :]

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "words"),
    [
        ("binary", set_number("left_child", 1, 0), "node 1 of tree 0 has the left child 0"),
        ("binary", set_number("left_child", 0, 10**6), "node 0 of tree 0 has the left_child 1000000"),
        ("binary", set_number("right_child", 0, -(10**6)), "node 0 of tree 0 has the right_child -1000000"),
        ("binary", set_number("left_child", 0, -1), "node . of tree 0 is the child of"),
        ("binary", set_number("split_feature", 0, 4), "node 0 of tree 0 splits by the feature 4"),
        ("binary", set_number("split_feature", 0, -7), "node 0 of tree 0 splits by the feature -7"),
        ("binary", set_number("decision_type", 0, 12), "node 0 of tree 0 has the decision type 12"),
        ("binary", set_number("leaf_value", 0, "nan"), "must be finite"),
        ("categories", set_number("threshold", 0, 99), "node 0 of tree 0 has the set of categories 99"),
        ("categories", set_number("cat_boundaries", 0, 1), "sets of categories"),
    ],
)
def test_lightgbm(name, edit, words):
    refuse(damage_lightgbm(edit, name), words)


def test_lightgbm_header():
    def other_rounds(text: str) -> str:
        return text.replace("num_tree_per_iteration=1", "num_tree_per_iteration=2")

    refuse(damage_lightgbm(other_rounds), "3 trees are no whole rounds of 2")


def test_lightgbm_parameters():
    """They are kept as they are in the file, whatever that is."""

    def other_columns(text: str) -> str:
        return re.sub(r"\[categorical_feature: .*\]", "[categorical_feature: 99]", text)

    refuse(damage_lightgbm(other_columns, "categories", [["a"]]), "columns that it does not have")


# --- scikit-learn -------------------------------------------------------------------------------------------


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
        refuse(broken, "columns that the ensemble says it saw")
    model.estimators_features_[1] = np.array([0, 9])
    refuse(model, "feature must be below 4")


def test_more_labels_than_classes():
    model = RandomForestClassifier(2, random_state=0).fit(X, np.median(Y) < Y)
    model.classes_ = np.array([0, 1, 2])
    refuse(model, "3 labels for 2 classes")


def test_trees_that_know_other_classes():
    model = RandomForestClassifier(2, random_state=0).fit(X, X[:, 3].astype(int))
    model.estimators_[0].classes_ = np.array([0, 1, 9])
    refuse(model, "classes apart that the ensemble does not have")


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


def test_errors_on_the_way_are_damage():
    model = RandomForestClassifier(2, random_state=0).fit(X, Y)
    model.estimators_ = []
    refuse(model, "do not fit together .IndexError")


def test_a_few_hundred_damaged_models(tmp_path):
    """`make fuzz` tries 20,000, and checks the bounds of arrays in kernels too."""
    reasons = fuzz(300, tmp_path)
    assert sum(reasons.values()) == 300
    for kind in ("xgboost", "xgboost stub", "lightgbm", "lightgbm stub", "sklearn"):
        assert len([reason for reason in reasons if reason.startswith(f"{kind}:")]) > 5  # many checks
        assert reasons[f"{kind}: imported, and predicts"]  # and some models are fine


def test_models_that_are_fine_stay_fine():
    for model in (*XGBOOST.values(), *LIGHTGBM.values(), hist()):
        assert Forest.from_model(model).n_trees == 3


def test_a_number_of_features_beyond_reason():
    """Names and rows would take gigabytes, whatever the size of the file."""

    def many(learner: dict[str, Any]) -> None:
        learner["learner_model_param"]["num_feature"] = "2000000000"

    refuse(damage_xgboost(many), "n_features must be a whole number from 1 to 10000000")
