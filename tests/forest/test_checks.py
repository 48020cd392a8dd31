"""What kernels take for granted is checked when a forest is made, whoever makes it."""

from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, checks
from budgetprune.losses import LOSSES, find_loss

from .test_forest import by_hand

pytestmark = pytest.mark.uncompiled

NAN = np.nan
# tree 0 is 0 -> (1 -> (2, 3), 4) if left subtrees end where right ones begin
THRESHOLDS = [0.0, 0.0, NAN, NAN, NAN, NAN, NAN, NAN]
NESTED = {
    "parent": [-1, 0, 1, 1, 0, -1, 5, 5],
    "left": [1, 2, -1, -1, -1, 6, -1, -1],
    "right": [4, 3, -1, -1, -1, 7, -1, -1],
    "feature": [0, 1, -1, -1, -1, 0, -1, -1],
    "threshold": THRESHOLDS,
    "category_set": [-1, -1, -1, -1, -1, 1, -1, -1],
}


def test_the_forests_that_the_others_are_variations_of():
    assert by_hand().n_splits == by_hand(**NESTED).n_splits == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # A right child is somebody's, and in a later place, but not where the left subtree ends.
        (
            NESTED | {"right": [3, 4, -1, -1, -1, 7, -1, -1], "parent": [-1, 0, 1, 0, 1, -1, 5, 5]},
            "where that",
        ),
        # Subtrees that reach into the next tree, or leave nodes over at the end of theirs.
        ({"tree_start": [0, 4, 8]}, "must end where tree_start"),
        ({"tree_start": [0, 1, 8]}, "must end where tree_start"),
        ({"parent": [3, 0, 0, 2, 2, -1, 5, 5]}, "parent must be -1 at the first node"),
        ({"parent": [-1, 0, 0, 2, 2, 4, 5, 5]}, "parent must be -1 at the first node"),
        # The last node is a split: there is nothing behind it.
        ({"feature": [0, -1, 1, -1, -1, 0, -1, 0], "left": [1, -1, 3, -1, -1, 6, -1, 8]}, "left subtree"),
        ({"feature": [0, -2, 1, -1, -1, 0, -1, -1]}, "feature must be -1 at leaves"),
        ({"threshold": [NAN] * 8}, "threshold must not be NaN"),
        ({"tree_start": [0, -3, 8]}, "tree_start must increase"),
        ({"origin_node": np.arange(8) - 1}, "origin_node"),
        ({"category_set": [0, -1, -2, -1, -1, 1, -1, -1]}, "category_set"),
        ({"category_set": [0, 1, -1, -1, -1, 1, -1, -1]}, "category_set must be -1 at leaves"),
        ({"category_start": [-2, 2, 4]}, "category_start must begin with 0"),
        ({"category_start": [0, 6, 4]}, "never decrease"),
        ({"category_start": []}, "category_set"),
        ({"tree_output": [0, -2]}, "tree_output must be below 1"),
        ({"value": np.empty((8, 0))}, "value must have 1 columns"),
        ({"value": np.zeros((8, 2))}, "value must have 1 columns"),
        ({"base": []}, "no output"),
        ({"base": [[1.0]]}, "base must be one-dimensional"),
        ({"tree_round": [-1, 0]}, "tree_round"),
        ({"tree_round": [1, 0]}, "never decrease"),
        ({"feature": None}, "feature is missing|must have one entry per node"),
        ({"value": None}, "value is missing"),
        *(
            ({name: np.full(8, NAN)}, f"{name} must be finite")
            for name in ("weight", "variance", "split_gain")
        ),
        (
            {"threshold": [0.5, NAN, 0.5, *[NAN] * 5]},
            "threshold must be NaN at leaves and splits by category",
        ),
        (
            {"threshold": [NAN, 0.5, 0.5, *[NAN] * 5]},
            "threshold must be NaN at leaves and splits by category",
        ),
        ({"value": np.full((8, 1), 1.7e308)}, "value must be finite, and from -1e.304 to 1e.304"),
        ({"value": np.full((8, 1), -0.6e304)}, "value and base must add up to at most 1e.304"),
        ({"base": [1.7e308]}, "base must be finite, and from"),
        ({"weight": np.full(8, -1.0)}, "weight must be finite, and from 0 to 1e.100"),
        ({"weight": np.full(8, 1e101)}, "weight must be finite, and from 0 to 1e.100"),
        ({"value": np.full((8, 1), np.inf)}, "value must be finite"),
        ({"base": [-np.inf]}, "base must be finite"),
    ],
)
def test_arrays_that_would_lead_kernels_astray(change, message):
    with pytest.raises(InvalidInputError, match=f"these arrays are not a forest: .*({message})"):
        by_hand(**change)


THREE = {"base": np.zeros(3), "classes": np.arange(3), "tree_output": [0, 2]}
TWO = {"classes": np.arange(2), "link": "logistic", "label_rule": "positive"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"divisor": 0.0}, "divisor"),
        ({"divisor": np.inf}, "divisor"),
        ({"divisor": NAN}, "divisor"),
        ({"divisor": True}, "divisor"),
        ({"divisor": 1e-300}, "divisor must be a number from 0.001 to 1e.12"),
        ({"divisor": 1e300}, "divisor must be a number from 0.001 to 1e.12"),
        ({"divisor": "2"}, "divisor"),
        ({"n_features": 2.0}, "n_features"),
        ({"n_features": 0}, "n_features"),
        ({"n_features": 2**31}, "n_features"),
        ({"link": "probit"}, "link must be one of"),
        ({"link": ["exp"]}, "link must be one of"),
        ({"label_rule": "positive"}, "label_rule must be argmax"),
        ({"label_rule": {}}, "label_rule must be argmax"),
        ({"label_rule": "nonnegative"}, "nonnegative is for two classes"),
        ({"other_category": 3}, "other_category must be a string"),
        (TWO | {"label_rule": "argmax"}, "positive or nonnegative"),
        ({"loss": "hinge"}, "loss"),
        ({"loss": "gamma"}, "loss"),
        ({"missing": "zero"}, "missing must be"),
        ({"input_dtype": np.dtype(np.int32)}, "input_dtype"),
        ({"input_dtype": "float32"}, "input_dtype"),
        ({"absent_is_missing": 1}, "absent_is_missing"),
        ({"base": [0.0, 0.0]}, "without classes there is one output"),
        ({"link": "logistic", "label_rule": "positive"}, "link must be identity or exp"),
        (TWO | {"classes": np.arange(3)}, "one output and two classes"),
        (THREE | {"classes": np.arange(2)}, "as many outputs as classes"),
        (THREE | {"link": "exp"}, "link must be identity or softmax"),
        (THREE | {"classes": ["a", "b", "a"]}, "classes must differ"),
        ({"classes": [["a"]]}, "classes must be one-dimensional"),
        ({"feature_names": ("a", "a")}, "feature_names must be strings that differ"),
        ({"feature_names": ("a", 1)}, "feature_names must be strings"),
        ({"feature_names": "ab"}, "feature_names must name all"),
        ({"categories": (None,)}, "categories must have one entry"),
        ({"categories": (None, "abc")}, "None or a tuple"),
    ],
)
def test_settings_that_make_no_sense(change, message):
    with pytest.raises(InvalidInputError, match=message):
        by_hand(**change)


def test_the_words_are_those_of_the_types():
    hints = get_type_hints(Forest)

    def words(hint: Any) -> set[str]:
        inner = [word for part in get_args(hint) for word in get_args(part)]
        return set(inner or get_args(hint))

    assert set(checks.LABEL_RULES) == words(hints["link"])
    assert {rule for rules in checks.LABEL_RULES.values() for rule in rules} == words(hints["label_rule"])
    assert set(checks.MISSING) == words(hints["missing"])
    assert {find_loss(name).link for name in LOSSES.names} <= words(hints["link"])


def test_thresholds_may_be_infinite():
    """Such a split asks only whether the value is missing."""
    assert by_hand(threshold=[NAN, NAN, np.inf, *[NAN] * 5]).apply([[2, 1e300]])[0, 0] == 3
