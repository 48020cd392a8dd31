"""Damaged model text of LightGBM is refused, naming the tree and the node."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import pytest

from budgetprune import Forest

from ..damaged import LightGBMStub
from ..refusals import X, Y, refuse
from .zoo import SMALL


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

    refuse(damage_lightgbm(other_rounds), "3 trees do not divide into rounds of 2")


def test_lightgbm_parameters():
    """They are kept as they are in the file, whatever that is."""

    def other_columns(text: str) -> str:
        return re.sub(r"\[categorical_feature: .*\]", "[categorical_feature: 99]", text)

    refuse(damage_lightgbm(other_columns, "categories", [["a"]]), "categories of columns that do not exist")


def test_undamaged_models_are_imported():
    for model in LIGHTGBM.values():
        assert Forest.from_model(model).n_trees == 3
