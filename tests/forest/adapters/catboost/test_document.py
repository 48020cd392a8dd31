"""Damaged models of CatBoost are refused."""

from __future__ import annotations

import json

import pytest

from budgetprune import Forest, InvalidInputError
from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.registry import ADAPTERS

from ..damaged import CatBoostStub, catboost_models
from ..refusals import refuse

OBLIVIOUS, NESTED = (json.loads(content) for content in catboost_models()[:2])


def stub(document, change):
    copied = json.loads(json.dumps(document))
    change(copied)
    return CatBoostStub(json.dumps(copied).encode())


def tree(document):
    return document["oblivious_trees" if "oblivious_trees" in document else "trees"][0]


def first_leaf(node):
    while "left" in node:
        node = node["left"]
    return node


def with_two_scores(document):
    document["scale_and_bias"] = [1, [0, 0]]
    for one in document["oblivious_trees"]:
        one["leaf_values"] *= 2


DAMAGED = {
    "it has no trees": lambda d: d.update(oblivious_trees=[]),
    "tree 0 has 3 splits, but 7 values of leaves and 8 weights": lambda d: tree(d)["leaf_values"].pop(),
    "tree 0 has 3 splits, but 8 values of leaves and 7 weights": lambda d: tree(d)["leaf_weights"].pop(),
    "tree 0 is 17 deep, more than 16": lambda d: tree(d).update(splits=tree(d)["splits"][:1] * 17),
    "value must be finite": lambda d: tree(d)["leaf_values"].__setitem__(0, float("nan")),
    "the parts of this CatBoost do not fit together .KeyError: 77": lambda d: tree(d)["splits"][0].update(
        split_type="FloatFeature", float_feature_index=77
    ),
    "KeyError: 123": lambda d: tree(d)["splits"][0].update(
        split_type="OneHotFeature", cat_feature_index=0, value=123
    ),
    "its features do not belong to 5 columns": lambda d: d["features_info"]["float_features"][0].update(
        flat_feature_index=5
    ),
    "its loss Logloss has one score, not 2": lambda d: with_two_scores(d),
    "it has 1 labels for 2 classes": lambda d: d["model_info"]["class_params"].update(class_names=[3]),
    "threshold must not be NaN": lambda d: tree(d)["splits"][0].update(
        split_type="FloatFeature", float_feature_index=0, border=float("nan")
    ),
}


@pytest.mark.parametrize("words", DAMAGED)
def test_damaged_oblivious_trees(words):
    refuse(stub(OBLIVIOUS, DAMAGED[words]), words)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (
            "its trees do not have all of its nodes",
            lambda d: d["trees"].append(d["trees"][0]["left"]["left"]["split"]),
        ),
        ("leaves have 2 values for 1 outputs", lambda d: change_leaves(d, lambda leaf: [1.0, 2.0])),
        ("inhomogeneous", lambda d: first_leaf(tree(d)).update(value=[1.0, 2.0])),
        ("KeyError: 'right'", lambda d: tree(d).pop("right")),
        ("TypeError", lambda d: tree(d).update(left={"new": 1})),
        ("node 0 of tree 0 has the left child .*not a node below", lambda d: tree(d).update(left=999)),
    ],
)
def test_damaged_nested_trees(words, change):
    refuse(stub(NESTED, change), words)


def change_leaves(node, value):
    for key in ("trees", "left", "right"):
        below = node.get(key, []) if isinstance(node, dict) else []
        for one in below if isinstance(below, list) else [below]:
            if "left" in one:
                change_leaves(one, value)
            else:
                one["value"] = value(one)


def test_splits_of_other_kinds_are_refused():
    model = stub(OBLIVIOUS, lambda d: tree(d)["splits"][0].update(split_type="OnlineCtr"))
    with pytest.raises(UnsupportedModelError, match=r"splits of the type OnlineCtr.*one_hot_max_size"):
        Forest.from_model(model)


def test_deep_nests_are_refused():
    deep = json.dumps(NESTED)[:-1] + ', "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"
    refuse(CatBoostStub(deep.encode()), "its trees are too deep")


def test_other_files_are_refused():
    with pytest.raises(InvalidInputError, match="not a model that CatBoost saved"):
        ADAPTERS.find("catboost").check_content(b"{}")
