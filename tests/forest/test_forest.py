"""The noun itself, built by hand: categories, missing values, links, label rules, arrays that do not fit."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from scipy.special import expit, softmax

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

pytestmark = pytest.mark.uncompiled


def bitset(categories, n_words):
    words = [sum(1 << (c - 32 * w) for c in categories if c // 32 == w) for w in range(n_words)]
    return np.array(words, dtype=np.uint32)


def by_hand(**changes):
    """Two trees over two features, the first by category, then by threshold.

    tree 0:  x0 in {1, 3, 40}?            tree 1:  x0 in {0, 31, 32}?
               /        \\                            /        \\
             [1]      x1 <= 0.5                     [5]        [6]
                       /     \\
                     [3]     [4]
    """
    arrays = {
        "tree_start": [0, 5, 8],
        "parent": [-1, 0, 0, 2, 2, -1, 5, 5],
        "left": [1, -1, 3, -1, -1, 6, -1, -1],
        "right": [2, -1, 4, -1, -1, 7, -1, -1],
        "feature": [0, -1, 1, -1, -1, 0, -1, -1],
        "threshold": [np.nan, np.nan, 0.5, np.nan, np.nan, np.nan, np.nan, np.nan],
        "missing_left": [False, False, True, False, False, True, False, False],
        "category_set": [0, -1, -1, -1, -1, 1, -1, -1],
        "category_start": [0, 2, 4],
        "category_bits": np.concatenate([bitset([1, 3, 40], 2), bitset([0, 31, 32], 2)]),
        "value": np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [0.0], [5.0], [6.0]]),
        "weight": np.ones(8),
        "class_weight": None,
        "variance": None,
        "tree_output": [0, 0],
        "base": [10.0],
        "divisor": 2.0,
        "link": "identity",
        "label_rule": "argmax",
        "classes": None,
        "n_features": 2,
        "feature_names": None,
        "input_dtype": np.dtype(np.float64),
        "missing": "nan",
        "origin": None,
        "origin_node": [0, 1, 2, 3, 4, 0, 1, 2],
    }
    return Forest(**(arrays | changes))


@pytest.mark.parametrize(
    ("x0", "leaf_of_tree_1"),
    [(0, 6), (31, 6), (32, 6), (1, 7), (30, 7), (33, 7), (63, 7), (64, 7), (1e300, 7), (-1, 7), (np.nan, 6)],
)
def test_categories_go_left_if_they_are_in_the_set(x0, leaf_of_tree_1):
    assert by_hand().apply([[x0, 0.0]])[0, 1] == leaf_of_tree_1


@pytest.mark.parametrize(
    ("x", "leaf"),
    [((1, 9), 1), ((40, 9), 1), ((8, 9), 4), ((2, 0.5), 3), ((2, 0.5000001), 4), ((2, np.nan), 3)],
)
def test_categories_and_thresholds_share_a_tree(x, leaf):
    assert by_hand().apply([x])[0, 0] == leaf


def test_a_split_by_category_remembers_its_own_side_for_missing_values():
    assert by_hand().apply([[np.nan, 0.0]]).tolist() == [[3, 6]]


@pytest.mark.parametrize(
    ("x1", "leaf"), [(0.0, 4), (-0.0, 4), (1e-36, 4), (np.nan, 4), (1e-3, 3), (-1e-3, 3)]
)
def test_zero_can_count_as_missing(x1, leaf):
    missing_left = np.zeros(8, dtype=bool)
    forest = by_hand(missing="nan-or-zero", missing_left=missing_left)
    assert forest.apply([[2, x1]])[0, 0] == leaf


def test_zero_is_a_category_even_where_zeros_are_missing():
    forest = by_hand(missing="nan-or-zero", missing_left=np.zeros(8, dtype=bool))
    assert forest.apply([[0, 1.0]])[0, 1] == 6


def test_pruning_keeps_splits_by_category():
    forest = by_hand()
    pruned = forest.prune(np.array([True, False, False, False, False, True, False, False]))
    assert pruned.apply([[3, 0], [2, 0], [31, 0]]).tolist() == [[1, 5], [2, 5], [2, 4]]
    assert pruned.category_set.tolist() == [0, -1, -1, 1, -1, -1]


def test_score_is_base_plus_trees_over_divisor():
    assert by_hand().scores([[3, 0], [2, 0]]).tolist() == [[(10 + 1 + 6) / 2], [(10 + 3 + 6) / 2]]
    assert by_hand().predict([[3, 0]]).tolist() == [8.5]


def test_trees_can_feed_different_outputs():
    forest = by_hand(
        tree_output=[2, 0], base=[0.5, 1.0, 2.0], divisor=1.0, link="softmax", classes=np.array(list("abc"))
    )
    assert forest.scores([[3, 0]]).tolist() == [[6.5, 1.0, 3.0]]
    assert np.allclose(forest.predict_proba([[3, 0]]), softmax([[6.5, 1.0, 3.0]], axis=1))
    assert forest.predict([[3, 0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("rule", "base", "label"),
    [("positive", -7, "no"), ("nonnegative", -7, "yes"), ("positive", -6, "yes"), ("nonnegative", -8, "no")],
)
def test_label_rules_differ_at_zero(rule, base, label):
    forest = by_hand(base=[base], link="logistic", label_rule=rule, classes=np.array(["no", "yes"]))
    assert forest.predict([[3, 0]]).tolist() == [label]
    score = (base + 7) / 2
    assert np.allclose(forest.predict_proba([[3, 0]]), [[1 - expit(score), expit(score)]])


@pytest.mark.parametrize(("rule", "label"), [("argmax", "no"), ("nonnegative", "yes")])
@pytest.mark.parametrize("link", ["identity", "softmax"])
def test_equal_scores_of_two_classes(rule, label, link):
    forest = by_hand(
        value=np.full((8, 2), 0.25),
        base=np.zeros(2),
        tree_output=[-1, -1],
        link=link,
        label_rule=rule,
        classes=np.array(["no", "yes"]),
    )
    assert forest.predict([[3, 0]]).tolist() == [label]


def test_regression_has_no_probabilities():
    with pytest.raises(UnsupportedModelError, match="use predict"):
        by_hand().predict_proba([[0, 0]])


def test_first_maximum_wins():
    value = np.tile([0.25, 0.5, 0.5], (8, 1))
    forest = by_hand(value=value, base=np.zeros(3), tree_output=[-1, -1], classes=np.array([7, 8, 9]))
    assert forest.predict([[0, 0]]).tolist() == [8]


def test_counts():
    forest = by_hand()
    assert (forest.n_trees, forest.n_nodes, forest.n_splits, forest.n_outputs) == (2, 8, 3, 1)
    assert forest.depth.tolist() == [0, 1, 1, 2, 2, 0, 1, 1]
    assert forest.tree_of_node.tolist() == [0] * 5 + [1] * 3
    assert np.flatnonzero(forest.is_split).tolist() == [0, 2, 5]
    assert not forest.is_classifier


def test_facts_about_features():
    forest = by_hand()
    assert forest.used_features.tolist() == [0, 1]
    assert forest.prune(forest.is_split & (forest.feature == 0)).used_features.tolist() == [0]
    assert forest.prune(np.zeros(forest.n_nodes, dtype=bool)).used_features.size == 0
    assert forest.names == ("x0", "x1")
    assert by_hand(feature_names=("town", "age")).names == ("town", "age")
    assert forest.feature_categories == (None, None)
    assert by_hand(categories=(("a", "b"), None)).feature_categories == (("a", "b"), None)


@pytest.mark.parametrize(
    "twin", [lambda f: f, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f)), replace]
)
def test_nothing_can_be_changed(twin):
    forest = twin(by_hand())
    assert forest.predict([[3, 0]]).tolist() == [8.5]
    arrays = [getattr(forest, field.name) for field in fields(forest)]
    arrays += [forest.is_split, forest.depth, forest.tree_of_node]
    assert not any(array.flags.writeable for array in arrays if isinstance(array, np.ndarray))
    with pytest.raises(FrozenInstanceError):
        forest.divisor = 3.0


def test_arrays_of_the_caller_stay_writable():
    weight = np.ones(8)
    by_hand(weight=weight)
    assert weight.flags.writeable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": np.ones(7)}, "weight must have one entry per node"),
        ({"tree_start": [0, 8, 8]}, "tree_start"),
        ({"tree_start": [0, 5]}, "tree_start"),
        ({"feature": [0, -1, 2, -1, -1, 0, -1, -1]}, "feature must be below 2"),
        ({"left": [2, -1, 3, -1, -1, 6, -1, -1]}, "left must be the next node"),
        ({"right": [2, -1, 4, -1, 3, 7, -1, -1]}, "-1 at leaves"),
        ({"right": [9, -1, 4, -1, -1, 7, -1, -1]}, "right must come after"),
        ({"parent": [-1, 0, 0, 2, 0, -1, 5, 5]}, "parent"),
        ({"category_set": [0, -1, -1, -1, -1, 2, -1, -1]}, "category_set"),
        ({"category_start": [0, 2, 5]}, "category_start"),
        ({"tree_output": [0]}, "tree_output must have one entry per tree"),
        ({"tree_output": [0, 1]}, "tree_output must be below 1"),
        ({"tree_output": [-1, -1], "base": [0.0, 0.0]}, "2 columns"),
        ({"value": np.zeros(8)}, "two-dimensional"),
        ({"class_weight": np.ones((8, 2)), "classes": np.arange(3)}, "one column per class"),
        ({"feature_names": ("a",)}, "feature_names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    with pytest.raises(InvalidInputError, match=message):
        by_hand(**change)
