"""`BudgetModel`: what is saved is loaded, by those who want all of it and by those who only predict."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.model import About, BudgetModel
from budgetprune.persistence.container import PREAMBLE

from ..golden.planting import rows
from ..golden.write import FOLDER, MODELS, detailed, with_path
from ..persistence.parts import Parts, assemble

GOLDEN = FOLDER / "with_path-2.budgetprune"


@pytest.fixture
def model():
    return with_path()


def assert_same(one: BudgetModel, other: BudgetModel) -> None:
    X = np.array(rows(one.predictor.forest.n_features), dtype=float)
    assert one.about == other.about
    assert one.predictor._settings() == other.predictor._settings()
    assert one.predictor.forest.scores(X).tolist() == other.predictor.forest.scores(X).tolist()
    assert other.path.forest.scores(X).tolist() == one.path.forest.scores(X).tolist()
    for name in ("critical_lambda", "lam", "error", "cost", "n_splits", "objective"):
        a, b = getattr(one.path, name), getattr(other.path, name)
        assert (a.dtype, a.tolist()) == (b.dtype, b.tolist())
    assert (one.path.complete, one.path.source_names) == (other.path.complete, other.path.source_names)
    assert (one.path.unpruned.cost, one.path.unpruned.error) == (
        other.path.unpruned.cost,
        other.path.unpruned.error,
    )
    assert other.path.unpruned.forest.n_splits == one.path.forest.n_splits


def test_there_and_back(model, tmp_path):
    model.save(tmp_path / "m")
    assert_same(model, BudgetModel.load(tmp_path / "m"))


def test_golden_file_is_read_and_still_written(model, tmp_path):
    assert_same(model, BudgetModel.load(GOLDEN))
    model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == GOLDEN.read_bytes()


def test_details_have_a_section_that_older_releases_do_not_know(tmp_path):
    model, golden = detailed(), FOLDER / "detailed-5.budgetprune"
    assert_same(model, BudgetModel.load(golden))
    model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == golden.read_bytes()
    assert PREAMBLE.unpack_from((tmp_path / "m").read_bytes())[1] == 5
    assert About.from_json(json.loads(json.dumps(model.about.to_json()))) == model.about
    assert replace(model, about=model.about.with_details({})).about == with_path().about


@pytest.mark.parametrize(
    ("keys", "to"),
    [
        (["unit"], 3),
        (["chosen", "auc"], 1.5),
        (["chosen", "by_class"], "all"),
        (["chosen", "by_class", 0, "recall"], -1),
        (["chosen", "by_class", 0, "label"], 1),
        (["chosen", "log_loss"], None),
        (["whole"], {"auc": 0.5}),
        (["other"], 1),
    ],
)
def test_damaged_details(tmp_path, keys, to):
    parts = Parts((FOLDER / "detailed-5.budgetprune").read_bytes())
    set_header("details", *keys, to=to)(parts)
    parts.describe()
    file = tmp_path / "bad.budgetprune"
    file.write_bytes(assemble(parts.text().encode(), parts.body(), parts.version))
    with pytest.raises(InvalidInputError, match=r"metadata|details of a model"):
        BudgetModel.load(file)


def test_a_predictor_reads_its_part_only(model):
    predictor = BudgetPredictor.load(GOLDEN)
    assert predictor._settings() == model.predictor._settings()
    assert predictor.forest.n_splits == model.predictor.forest.n_splits < model.path.forest.n_splits


def test_files_of_predictors_have_no_path(tmp_path, model):
    model.predictor.save(tmp_path / "p")
    loaded = BudgetModel.load(tmp_path / "p")
    assert loaded.path is loaded.about is None
    assert loaded.predictor.costs.source_names == model.predictor.source_names
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "p").read_bytes()
    assert PREAMBLE.unpack_from((tmp_path / "p").read_bytes())[1] == 1  # which older releases read


def test_a_story_without_a_path(tmp_path, model):
    replace(model, path=None).save(tmp_path / "m")
    loaded = BudgetModel.load(tmp_path / "m")
    assert loaded.path is None
    assert loaded.about == model.about


def test_paths_of_other_models_are_refused(model):
    forest, costs, _ = MODELS["boosted"]()
    with pytest.raises(InvalidInputError, match="does not belong to the model"):
        replace(model, predictor=BudgetPredictor(forest, costs))


# --- Nothing in a file is believed --------------------------------------------------------------------------


def refused(tmp_path, edit, words):
    parts = Parts(GOLDEN.read_bytes())
    edit(parts)
    parts.describe()
    file = tmp_path / "bad.budgetprune"
    file.write_bytes(assemble(parts.text().encode(), parts.body(), parts.version))
    with pytest.raises(InvalidInputError, match=words) as caught:
        BudgetModel.load(file)
    assert str(caught.value).startswith(f"{file} cannot be loaded: ")


def set_array(name, change):
    def edit(parts):
        i = parts.index(name)
        parts.arrays[i] = change(parts.arrays[i])

    return edit


def set_header(*keys, to):
    def edit(parts):
        inner = parts.header
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    return edit


def drop_array(name):
    def edit(parts):
        i = parts.index(name)
        del parts.table[i], parts.arrays[i]

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (set_array("path.cost", lambda a: a[::-1].copy()), "without increasing cost"),
        (set_array("path.error", lambda a: a * np.nan), "error of its path must be finite"),
        (set_array("path.lam", lambda a: a.astype("<f4")), "must be an array of float64"),
        (set_array("path.n_splits", lambda a: a + 1), "n_splits .* must be the number of larger"),
        (set_array("path.cost", lambda a: a[:, np.newaxis]), "one dimension"),
        (set_array("path.critical_lambda", lambda a: a[::-1].copy()), "critical_lambda"),
        (set_array("path.critical_lambda", lambda a: a[1:]), "critical_lambda .* an entry for each split"),
        (set_array("unpruned.feature", lambda a: a * 0), "make no trees"),
        (set_array("unpruned.feature", lambda a: a * 0 - 1), "make no trees"),
        (set_array("unpruned.tree_start", lambda a: a[::-1].copy()), "make no trees"),
        (set_array("unpruned.tree_start", lambda a: a[:, np.newaxis]), "must have one dimension"),
        (set_array("unpruned.threshold", lambda a: a[1:]), "threshold .* an entry for each split"),
        (drop_array("unpruned.missing_left"), "missing_left .* an entry for each split"),
        (drop_array("unpruned.feature"), "needs the unpruned forest"),
        (drop_array("path.lam"), "lacks lam"),
        (set_header("path", to=None), "must have 'complete', 'unpruned'"),
        (set_header("path", "sources", to=["a"]), "must have 'complete', 'unpruned'"),
        (set_header("path", "complete", to=1), "'complete' .* must be true or false"),
        (set_header("path", "unpruned", to={"error": True}), "must have 'error' and 'cost'"),
        (set_header("path", "unpruned", "error", to=True), "must be finite numbers"),
        (set_header("path", "unpruned", "cost", to=-1.0), "a cost of its path is negative"),
        (set_header("path", "unpruned", "cost", to=1e-9), "costs more than the unpruned forest"),
        (set_array("path.cost", lambda a: a - 2 * a[0]), "a cost of its path is negative"),
        (set_array("path.objective", lambda a: a - 9), "less than error plus lam times cost"),
        (set_array("path.error", lambda a: a[::-1].copy()), "error falls|less than error plus"),
        (set_header("unpruned", "divisor", to=0), "divisor"),
        (set_header("unpruned", "n_features", to=6), "feature_names|other features"),
        (set_header("unpruned", to=3), "needs the unpruned forest"),
        (set_header("about", to=[]), "must be a mapping with"),
        (set_header("about", "task", to="cooking"), "Invalid model metadata: task"),
        (set_header("about", "budget", to=-1), "Invalid model metadata: budget"),
        (set_header("about", "n_train", to=1.5), "Invalid model metadata: n_train"),
        (set_header("about", "tradeoff", to={"cost": [1]}), "Invalid model metadata: tradeoff"),
        (set_header("about", "versions", to={"a": 1}), "Invalid model metadata: versions"),
        (set_header("about", "compared", to={}), "must be a mapping with"),
        (set_header("about", "compared", "rows", to="best"), "Invalid model metadata: rows"),
        (set_header("about", "extra", to=1), "must be a mapping with"),
    ],
)
def test_broken_sections(tmp_path, edit, words):
    refused(tmp_path, edit, words)


def test_sections_need_their_version(tmp_path):
    parts = Parts(GOLDEN.read_bytes())
    file = tmp_path / "old.budgetprune"
    file.write_bytes(assemble(parts.text().encode(), parts.body(), 1))
    with pytest.raises(InvalidInputError, match="header has unknown keys"):
        BudgetModel.load(file)


def test_a_path_without_its_forest(tmp_path):
    refused(tmp_path, lambda parts: parts.header.pop("unpruned"), "needs the unpruned forest")


def test_the_story_is_plain(model):
    told = json.loads(json.dumps(model.about.to_json()))
    assert About.from_json(told) == model.about
    with pytest.raises(InvalidInputError, match="Invalid model metadata: lam"):
        replace(model.about, lam=float("nan"))
