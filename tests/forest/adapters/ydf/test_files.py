"""Folders and files of Yggdrasil's models."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, find_adapter
from budgetprune.workflow import prune_model
from budgetprune.workflow.library_files import load_library_file

from .zoo import TARGETS, build, signal, training_rows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    model = build("forest")[0]
    model.save(str(folder / "model"))
    (folder / "model.ydf").write_bytes(model.serialize())
    (folder / "empty").mkdir()
    (folder / "other.ydf").write_bytes(b"something else")
    shutil.copytree(folder / "model", folder / "broken")
    (folder / "broken/random_forest_header.pb").write_bytes(b"\xff\xff")
    return folder


@pytest.mark.parametrize("name", ["model", "model.ydf"])
@pytest.mark.parametrize("trust", [False, True])
def test_folders_and_files_are_read(files, name, trust):
    _, forest, rows = build("forest")
    loaded = Forest.from_model(load_library_file(files / name, trust=trust))
    np.testing.assert_array_equal(loaded.scores(rows), forest.scores(rows))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty", "is a folder, but not a model that Yggdrasil saved"),
        ("other.ydf", "is not a model that Yggdrasil wrote"),
        ("broken", "cannot be loaded"),
    ],
)
def test_others_are_refused(files, name, words):
    with pytest.raises(InvalidInputError, match=words):
        load_library_file(files / name, trust=name == "broken")


def test_a_folder_is_pruned(files):
    table = training_rows()
    table["target"] = TARGETS["two"](signal(table))
    with pytest.warns(UserWarning, match=r"3 of 200 values .* count as '<OOD>' \('Ys', say\)"):
        pruned = prune_model(files / "model", table[100:], "target", budget=2.0)
    assert 0 < pruned.predictor.forest.n_splits < build("forest")[1].n_splits
    assert pruned.about.model == "RandomForestModel"


def test_ranking_models_are_recognised():
    for name, is_ranking in (("ranking", True), ("ranking, cross-entropy", True), ("squared", False)):
        model = build(name)[0]
        assert find_adapter(model).is_ranking_model(model) == is_ranking
