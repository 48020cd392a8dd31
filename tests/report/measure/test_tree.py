"""The tree of a report is pruned as the forest is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from budgetprune import Forest
from budgetprune.report import summarise, to_json
from budgetprune.report.measure.tree import split_of, value_of
from budgetprune.report.words.pruned import node_value, question

from ..models import case, predictor_of, summary_of

NAMES = ("cancer", "wine", "diabetes", "boosted", "categories")


def splits_left(tree, point):
    if point.kind == "unpruned":
        return sum(split is not None for split in tree.split)
    if point.kind == "delivered":
        return sum(tree.is_delivered)
    return sum(
        split is not None and (critical is None or critical > point.lam)
        for split, critical in zip(tree.split, tree.critical_lambda, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_is_pruned_as_the_forest_is(name):
    summary = summary_of(name)
    tree, t = summary.tree, summary.tree.number - 1
    for point in summary.points:
        forest = predictor_of(name, point).forest
        nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
        n_splits = int(forest.is_split[nodes].sum())
        assert splits_left(tree, point) == n_splits
        assert point.n_tree_splits == n_splits


def test_values_of_the_delivered_tree():
    tree, forest = summary_of("diabetes").tree, case("diabetes").predictor.forest
    nodes = range(forest.tree_start[tree.number - 1], forest.tree_start[tree.number])
    assert [value for value in tree.refitted if value] == [value_of(forest, h) for h in nodes]


def test_large_trees_lose_their_lower_levels(monkeypatch):
    monkeypatch.setattr("budgetprune.report.measure.tree.MOST_NODES", 20)
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y, n_examples=0)
    tree = summary.tree
    assert len(tree.parent) <= 20
    assert tree.n_splits > sum(split is not None for split in tree.split)
    for h, parent in enumerate(tree.parent):
        assert parent < h
        assert parent < 0 or tree.split[parent]
    assert f"{tree.n_splits} splits" in to_json(summary)["points"][-1]["tree"]


def test_questions():
    forest = case("categories").model.path.forest
    asked = {question(split_of(forest, h)) for h in np.flatnonzero(forest.is_split)}
    assert any(words.startswith("size ≤ ") for words in asked)
    colours = {words for words in asked if words.startswith("colour")}
    assert colours <= {"colour is black", "colour is black or blue", "colour is black or blue or green"}
    assert colours
    assert question(split_of(forest, int(np.flatnonzero(~forest.is_split)[0]))) == ""


def test_questions_about_sets():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"day": pd.Categorical(rng.choice(["mo", "tu", "we", "th"], 300)), "x": rng.normal(size=300)}
    )
    y = table["day"].isin(["mo", "we"]) + 0.01 * table["x"]
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=4, categorical_features="from_dtype")
    forest = Forest.from_model(model.fit(table, y))
    root = question(split_of(forest, 0))
    assert root in ("day is mo or we", "day is th or tu")
    assert node_value(value_of(forest, 0))[0] in "+-"


def test_values():
    cancer, wine = case("cancer").model.path.forest, case("wine").model.path.forest
    assert node_value(value_of(cancer, 0)).split()[0] in ("benign", "malignant")
    assert node_value(value_of(cancer, 0)).endswith("%")
    assert node_value(value_of(wine, 0)).split()[0] in wine.classes
    softmax = replace(wine, link="softmax", value=wine.value - 1)
    assert node_value(value_of(softmax, 0)) == f"more for {wine.classes[wine.value[0].argmax()]}"
    boosted = case("boosted").model.path.forest
    assert node_value(value_of(boosted, 0)).endswith(f"for {boosted.classes[boosted.tree_output[0]]}")
