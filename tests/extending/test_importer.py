"""A library that is registered from outside the package: import, export, files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from budgetprune import (
    BudgetPruneClassifier,
    Forest,
    InvalidInputError,
    PruningProblem,
    UnsupportedModelError,
)
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.registry import ADAPTERS, register_adapter, unregister_adapter
from budgetprune.forest.topology import links_in_preorder

from ..commands.commands import check_refused, runner
from . import stumps
from .stumps import Stumps


# --8<-- [start:example]
def from_stumps(model):
    """Convert a model: three nodes per stump, which are the split, its left leaf and its right leaf."""
    n_trees = len(model.stumps)
    start, is_split = 3 * np.arange(n_trees + 1), np.tile([True, False, False], n_trees)
    parent, left, right = links_in_preorder(start, is_split)
    weight = np.array([[s.n_left + s.n_right, s.n_left, s.n_right] for s in model.stumps], dtype=float)
    second = np.array([[0.0, s.left, s.right] for s in model.stumps])
    second[:, 0] = (weight * second)[:, 1:].sum(axis=1) / weight[:, 0]
    value = np.column_stack([1 - second.ravel(), second.ravel()])

    def at_splits(entries, elsewhere):
        array = np.full(3 * n_trees, elsewhere)
        array[::3] = entries
        return array

    return Forest(
        tree_start=start,
        parent=parent,
        left=left,
        right=right,
        feature=at_splits([s.feature for s in model.stumps], -1),
        threshold=at_splits([s.threshold for s in model.stumps], np.nan),
        missing_left=np.zeros(is_split.size, dtype=bool),
        category_set=np.full(is_split.size, -1),
        category_start=np.zeros(1),
        category_bits=np.empty(0),
        value=value,
        weight=weight.ravel(),
        class_weight=value * weight.reshape(-1, 1),
        variance=None,
        tree_output=np.full(n_trees, -1),
        base=np.zeros(2),
        divisor=float(n_trees),
        link="identity",
        label_rule="argmax",
        classes=np.array(model.classes),
        n_features=model.n_features,
        feature_names=None,
        input_dtype=np.dtype(np.float64),
        missing="forbidden",
        origin=model,
        origin_node=np.tile([0, 1, 2], n_trees),
    )


class StumpsAdapter(Adapter):
    """The toy library; a pruned stump becomes one with the same value on both sides."""

    name, title = "stumps", "Stumps"
    importers = {"tests.Stumps": from_stumps}  # noqa: RUF012
    suffixes = (".stumps",)
    reader = stumps

    def export(self, forest, **options):
        found = []
        for t, root in enumerate(forest.tree_start[:-1]):
            old = forest.origin.stumps[t]
            low, high = (root + 1, root + 2) if forest.is_split[root] else (root, root)
            found.append(old._replace(left=float(forest.value[low, 1]), right=float(forest.value[high, 1])))
        return Stumps(forest.classes.tolist(), forest.n_features, found)

    def check_content(self, content):
        if not content.startswith(b"{"):
            raise InvalidInputError("it is no model of stumps.")


# register_adapter(StumpsAdapter()) makes the library known.
# --8<-- [end:example]


@pytest.fixture(autouse=True)
def registered():
    register_adapter(StumpsAdapter())
    yield
    if "stumps" in ADAPTERS:
        unregister_adapter("stumps")


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    found = []
    for k in range(X.shape[1]):
        tree = DecisionTreeClassifier(max_depth=1).fit(X[:, [k]], y).tree_
        n_left, n_right = tree.n_node_samples[1:].tolist()
        left, right = tree.value[1:, 0, 1].tolist()
        found.append((k, float(tree.threshold[0]), left, right, n_left, n_right))
    return Stumps([0, 1], X.shape[1], found)


def test_a_forest_predicts_as_the_model(model, data):
    X, _ = data
    forest = Forest.from_model(model)
    assert (forest.n_trees, forest.n_splits) == (6, 6)
    assert forest.predict_proba(X)[:, 1] == pytest.approx([model.predict_proba_second(row) for row in X])


def test_a_problem_has_an_optimal_path(model, data):
    path = PruningProblem(Forest.from_model(model), data[0]).path(certify=True)
    assert path.gap.max() <= 1e-9
    assert len(path) > 1


@pytest.mark.parametrize("library", [None, "stumps"])
def test_a_pruned_forest_is_exported(model, data, library):
    X, _ = data
    forest = Forest.from_model(model)
    pruned = forest.prune(forest.is_split & (forest.feature < 3))
    back = pruned.to_model(library)
    assert [back.predict_proba_second(row) for row in X] == pytest.approx(pruned.predict_proba(X)[:, 1])


def test_the_way_to_other_libraries_is_closed(model):
    forest = Forest.from_model(model)
    with pytest.raises(UnsupportedModelError, match="the origin is Stumps"):
        forest.to_sklearn()
    with pytest.raises(InvalidInputError, match="models of Stumps do not record which rows"):
        forest.in_bag_counts(3)


def test_an_estimator_prunes_it(model, data):
    X, y = data
    fitted = BudgetPruneClassifier(FrozenEstimator(model), budget=3, random_state=0).fit(X, y)
    assert fitted.cost_ <= 3
    assert fitted.score(X, y) > 0.8


def test_the_command_prunes_a_file(model, data, tmp_path, capfd):
    X, y = data
    run = runner(capfd)
    file, table = tmp_path / "m.stumps", tmp_path / "d.csv"
    file.write_bytes(stumps.save(model))
    pd.DataFrame(X, columns=list("abcdef")).assign(ill=y).to_csv(table, index=False)
    words = ["prune", file, "--data", table, "--target", "ill", "--budget", 3, "--out", tmp_path / "m"]
    assert run(*words, "--json").json["model"] == "Stumps"
    assert run("predict", tmp_path / "m", table).status == 0
    file.write_text("tree")
    check_refused(run(*words), "m.stumps cannot be loaded: it is no model of stumps")
    file.write_text(json.dumps({"stumps": []}))
    check_refused(run(*words), r"m.stumps cannot be loaded \(TypeError")
    unregister_adapter("stumps")
    check_refused(run(*words), r"m.stumps has an unknown ending.*\*\.skops, \*\.txt")


def test_without_registration_it_is_refused(model):
    forest = Forest.from_model(model)
    unregister_adapter("stumps")
    with pytest.raises(UnsupportedModelError, match=r"cannot turn a tests\.Stumps into a Forest"):
        Forest.from_model(model)
    with pytest.raises(InvalidInputError, match="no library is called 'stumps'; there are sklearn"):
        replace(forest, origin=None).to_model("stumps")


def test_what_is_no_forest_is_refused(model, monkeypatch):
    monkeypatch.setattr(StumpsAdapter, "importers", {"tests.Stumps": lambda model: None})
    with pytest.raises(UnsupportedModelError, match=r"importer of .* returned a NoneType for this Stumps"):
        Forest.from_model(model)


def test_names_classes_and_suffixes_must_be_free():
    class Other(StumpsAdapter):
        name, importers = "others", {}

    with pytest.raises(InvalidInputError, match=r"\.stumps belongs to the library 'stumps' already"):
        register_adapter(Other())
