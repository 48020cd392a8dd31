"""Model files: what is saved is loaded to the last bit, now and from files of all versions."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from budgetprune import FeatureCosts, Forest, InvalidInputError
from budgetprune.costs import CostTable, check_cost_table
from budgetprune.persistence import VERSION, container
from budgetprune.utils import files

from ..forest.adapters.lightgbm import zoo as lightgbm_zoo
from ..forest.adapters.xgboost import zoo as xgboost_zoo
from ..forest.conftest import BOOSTED, ZOO, build_case
from ..golden.planting import rows
from ..golden.write import FOLDER, MODELS, answers
from .model_files import load_model, save_model
from .parts import GOLDEN

OPTIONS = {"slack": 0.25, "max_cost": None, "threshold": None, "rule": "gain"}


@pytest.fixture
def model() -> tuple[Forest, CostTable, dict[str, Any]]:
    return MODELS["averaged"]()


@pytest.fixture
def saved(tmp_path, model):
    save_model(tmp_path / "a.budgetprune", *model)
    return tmp_path / "a.budgetprune"


def assert_same(one: Forest, other: Forest) -> None:
    for field in fields(Forest):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "origin":
            assert b is None
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype or a.dtype == object
            assert a.shape == b.shape
            assert a.dtype == object or a.tobytes() == b.tobytes()
            assert b.flags.aligned
            assert b.flags.c_contiguous
            assert b.dtype.isnative
            assert not b.flags.writeable
        else:
            assert a == b


# --- There and back -----------------------------------------------------------------------------------------


def round_trip(forest: Forest, sample: np.ndarray, tmp_path) -> None:
    names = forest.feature_names or [f"x{k}" for k in range(forest.n_features)]
    costs = FeatureCosts(range(forest.n_features), groups={names[1]: "g"}, group_costs={"g": 2})
    table = costs.resolve(forest.n_features, names)
    save_model(tmp_path / "m", forest, table, OPTIONS)
    loaded, loaded_costs, options = load_model(tmp_path / "m")
    assert_same(forest, loaded)
    assert loaded.scores(sample).tobytes() == forest.scores(sample).tobytes()
    assert loaded.predict(sample).tolist() == forest.predict(sample).tolist()
    assert options == OPTIONS
    assert loaded_costs.source_names == table.source_names
    for name in ("price", "needs_start", "needs"):
        a, b = getattr(table, name), getattr(loaded_costs, name)
        assert (a.dtype, a.tobytes()) == (b.dtype, b.tobytes())
        assert not b.flags.writeable


@pytest.mark.parametrize("name", ZOO | BOOSTED)
def test_scikit_learn(name, tmp_path):
    case = build_case(name)
    round_trip(case.forest, case.rows, tmp_path)


@pytest.mark.parametrize("name", lightgbm_zoo.ZOO)
def test_lightgbm(name, tmp_path):
    case = lightgbm_zoo.build(name)
    round_trip(case.forest, case.rows, tmp_path)


@pytest.mark.parametrize("name", xgboost_zoo.ZOO)
def test_xgboost(name, tmp_path):
    case = xgboost_zoo.build(name)
    round_trip(case.forest, case.rows, tmp_path)


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["nein", "ja, Größe 𝄞"]),
        np.array([b"no", b"yes"]),
        np.array([False, True]),
        np.array([-(2**63), 2**63 - 1]),
        np.array([1, 2], dtype=np.uint8),
        np.array([0.5, np.inf], dtype=np.float32),
        np.array([3, 4], dtype=">i4"),
        np.array(["no", "yes"], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_labels_of_all_kinds(classes, model, tmp_path):
    forest = replace(model[0], classes=classes)
    save_model(tmp_path / "m", forest, model[1], {})
    loaded = load_model(tmp_path / "m")[0]
    assert loaded.classes.tolist() == classes.tolist()
    assert loaded.classes.dtype.isnative


def test_odd_names_and_categories(model, tmp_path):
    names = ("", "a\0", '"\\', "日本", "x" * 1000)
    labels = (None, (True, 1.5, None, "x", -(2**63), 2**64 - 1), (np.str_("a"), np.int8(3)), (), None)
    forest = replace(model[0], feature_names=names, categories=labels)
    save_model(tmp_path / "m", forest, model[1], {})
    loaded = load_model(tmp_path / "m")[0]
    assert loaded.feature_names == names
    assert loaded.categories == labels
    assert [type(label) for label in loaded.categories[2]] == [str, int]


# --- Golden files -------------------------------------------------------------------------------------------


# What staged models answer is in tests/staged/test_section.py, paths are in tests/path/test_section.py,
# and preprocessing is in tests/preprocessing/test_section.py.
PLAIN = [file for file in GOLDEN if not file.stem.startswith(("staged", "path", "preprocessing"))]


@pytest.mark.parametrize("file", PLAIN, ids=lambda file: file.stem)
def test_golden_files_predict_what_they_did(file):
    forest, costs, options = load_model(file)
    known = json.loads(file.with_suffix(".json").read_text())
    assert (known.pop("rows"), known.pop("options")) == (rows(forest.n_features), options)
    assert answers(forest, costs) == known


@pytest.mark.parametrize("name", MODELS)
def test_golden_files_are_still_written(name, tmp_path):
    """Whoever changes what is written must count the version up, and write golden files of it."""
    save_model(tmp_path / "m", *MODELS[name]())
    assert (tmp_path / "m").read_bytes() == (FOLDER / f"{name}-1.budgetprune").read_bytes()


def test_golden_files_of_every_version():
    assert {int(file.stem.rpartition("-")[2]) for file in GOLDEN} == set(range(1, VERSION + 1))


# --- What cannot be saved -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slack": float("inf")}, "finite numbers"),
        ({"slack": float("nan")}, "finite numbers"),
        ({"big": 2**70}, "64 bits"),
        ({"deep": [1]}, "options must map"),
        ({1: 2}, "options must map"),
        ({"half": "\ud800"}, "are strings"),
    ],
)
def test_options_that_no_file_can_hold(tmp_path, model, options, words):
    with pytest.raises(InvalidInputError, match=words):
        save_model(tmp_path / "m", model[0], model[1], options)
    assert list(tmp_path.iterdir()) == []


def test_parts_that_no_file_can_hold(tmp_path, model, monkeypatch):
    forest, costs, _ = model
    odd = np.array([None, "a"], dtype=object)
    for change, words in (
        ({"classes": odd}, "classes of type object"),
        ({"classes": np.array([1, 2], dtype=np.clongdouble)}, "classes of type"),
        ({"classes": np.array(["a", "\ud800"])}, "characters that do not exist"),
        ({"categories": (None, ((1, 2),), None, None, None)}, "without pickle"),
        ({"categories": (None, (np.inf,), None, None, None)}, "finite numbers"),
        ({"feature_names": ("\udc00", *"abcd")}, "are strings"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            save_model(tmp_path / "m", replace(forest, **change), costs, {})
    if np.dtype(np.longdouble).itemsize > 8:
        with pytest.raises(InvalidInputError, match="a model file cannot hold"):
            save_model(tmp_path / "m", replace(forest, classes=np.array([1, 2], np.longdouble)), costs, {})
    with pytest.raises(InvalidInputError, match="each of 5 features"):
        save_model(tmp_path / "m", forest, MODELS["boosted"]()[1], {})
    monkeypatch.setattr(container, "LONGEST_HEADER", 128)
    with pytest.raises(InvalidInputError, match="room for 128; shorten"):
        save_model(tmp_path / "m", *model)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"price": [[1.0] * 6]}, "one-dimensional"),
        ({"price": [1, 1, 1, 1, 1, np.inf]}, "finite"),
        ({"price": [1, 1, 1, 1, 1, -1]}, "not negative"),
        ({"source_names": tuple("abcde")}, "name all 6 sources"),
        ({"source_names": (*"abcde", 6)}, "name all 6 sources"),
        ({"source_names": tuple("abcdea")}, "differ"),
        ({"needs_start": [0, 0, 2, 4, 5]}, "each of 5 features"),
        ({"needs_start": [1, 0, 2, 4, 5, 6]}, "begin with 0"),
        ({"needs_start": [0, 3, 2, 4, 5, 6]}, "never decrease"),
        ({"needs_start": [0, 0, 2, 4, 5, 7]}, "end at the length"),
        ({"needs": [1, 5, 2, 5, 3, 6]}, "below 6"),
        ({"needs": [-1, 5, 2, 5, 3, 4]}, "below 6"),
        ({"needs": [5, 1, 2, 5, 3, 4]}, "increase within"),
        ({"needs": [5, 5, 2, 5, 3, 4]}, "increase within"),
    ],
)
def test_tables_of_costs_are_checked(model, change, words):
    costs = model[1]
    assert costs.needs_start.tolist() == [0, 0, 2, 4, 5, 6]
    assert costs.needs.tolist() == [1, 5, 2, 5, 3, 4]
    check_cost_table(costs, 5)
    arrays = {name: entry if isinstance(entry, tuple) else np.array(entry) for name, entry in change.items()}
    with pytest.raises(InvalidInputError, match=f"not a table of costs: .*{words}"):
        check_cost_table(replace(costs, **arrays), 5)


# --- Saving is atomic ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_file(saved, monkeypatch, interruption, moment):
    def interrupt(*_args):
        raise interruption

    before = saved.read_bytes()
    monkeypatch.setattr(files.os, moment, interrupt)
    with pytest.raises(interruption):
        save_model(saved, *MODELS["boosted"]())
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_saving_again_replaces_the_file(saved):
    save_model(saved, *MODELS["boosted"]())
    assert load_model(saved)[0].loss == "poisson"
    assert list(saved.parent.iterdir()) == [saved]


def test_no_folder_to_write_to(tmp_path, model):
    with pytest.raises(FileNotFoundError, match=r"no such folder.*missing'"):
        save_model(tmp_path / "missing" / "m", *model)
