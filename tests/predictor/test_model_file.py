"""Model files: what is saved is loaded to the last bit, and nothing else is loaded at all."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from budgetprune import FeatureCosts, Forest, InvalidInputError
from budgetprune import _files as files
from budgetprune.costs import CostTable, check_cost_table
from budgetprune.predictor import _model_container as container
from budgetprune.predictor._model_file import VERSION, load_model, save_model
from budgetprune.predictor._model_json import read_json

from ..forest import lightgbm_zoo, xgboost_zoo
from ..forest.conftest import BOOSTED, ZOO, build_case
from ..golden.write import FOLDER, MODELS, answers, rows
from .fuzz_model_file import fuzz
from .mutations import GOLDEN, Parts, assemble, repaired

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


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_files_predict_what_they_did(file):
    forest, costs, options = load_model(file)
    known = json.loads(file.with_suffix(".json").read_text())
    assert (known.pop("rows"), known.pop("options")) == (rows(forest.n_features), options)
    assert answers(forest, costs) == known


@pytest.mark.parametrize("name", MODELS)
def test_this_version_has_golden_files_and_still_writes_them(name, tmp_path):
    """Whoever changes what is written must count the version up, and write golden files of it."""
    save_model(tmp_path / "m", *MODELS[name]())
    assert (tmp_path / "m").read_bytes() == (FOLDER / f"{name}-{VERSION}.budgetprune").read_bytes()


def test_golden_files_of_every_version():
    versions = {(file.stem.rpartition("-")[0], int(file.stem.rpartition("-")[2])) for file in GOLDEN}
    assert versions >= {(name, version) for name in MODELS for version in range(1, VERSION + 1)}


# --- Files that are something else --------------------------------------------------------------------------


def check_refused(file, content: bytes, words: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=words) as caught:
        load_model(file)
    assert str(caught.value).startswith(f"{file} cannot be loaded: ")


def test_foreign_files(saved):
    for content in (b"", b"PK\3\4", b"lam,error\n0,1\n", b"\0" * 5000):
        check_refused(saved, content, "no model that budgetprune saved")


def test_text_mode_is_noticed(saved):
    check_refused(saved, saved.read_bytes().replace(b"\r\n", b"\n"), "no model that budgetprune saved")


def test_every_cut_is_noticed(saved):
    good = saved.read_bytes()
    for length in range(1, len(good), 7):
        check_refused(saved, good[:length], "is cut off")


def test_every_flipped_bit_is_noticed(saved):
    good = saved.read_bytes()
    for i in range(0, len(good), 11):
        bad = bytearray(good)
        bad[i] ^= 1 << i % 8
        check_refused(saved, bytes(bad), "cut off|damaged|no model|newer budgetprune")


def test_bytes_behind_the_end(saved):
    check_refused(saved, saved.read_bytes() + b"\0" * 64, "damaged")
    check_refused(saved, repaired(GOLDEN[0].read_bytes() + b"\0" * 64), "should take it to")


def test_newer_files(saved):
    """Of which nothing is known but the first bytes."""
    good = saved.read_bytes()
    newer = good[:16] + (VERSION + 6).to_bytes(4, "little") + b"something else" * 9
    check_refused(saved, newer, rf"newer budgetprune \(format {VERSION + 6}; .* up to {VERSION}\); upgrade")
    check_refused(saved, repaired(good[:16] + bytes(4) + good[20:]), "format 0, which is wrong")


def changed(edit) -> bytes:
    parts = Parts((FOLDER / "averaged-1.budgetprune").read_bytes())
    edit(parts)
    return assemble(parts.text().encode(), parts.body())


def set_shape(name, shape):
    return lambda parts: parts.table[parts.index(name)].update(shape=shape)


def set_entry(name, place, number):
    return lambda parts: parts.arrays[parts.index(name)].__setitem__(place, number)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda p: p.header.update(more=1), "must have the keys"),
        (lambda p: p.header["forest"].update(more=1), "unknown ones: .*more"),
        (lambda p: p.header["forest"].pop("link"), "lack link"),
        (lambda p: p.header["forest"].update(input_dtype="O"), "input_dtype must be one of"),
        (lambda p: p.header["forest"].update(feature_names="abcde"), "feature_names must be a list"),
        (
            lambda p: p.header["forest"].update(categories=[[[1]], None, None, None, None]),
            "categories must be",
        ),
        (lambda p: p.header["forest"].update(divisor=0), "divisor"),
        (lambda p: p.header["forest"].update(n_features=10**18), "n_features"),
        (lambda p: p.header["forest"].update(n_features=6, feature_names=None, categories=None), "each of 6"),
        (lambda p: p.header.update(sources="abcdef"), "sources must be a list"),
        (lambda p: p.header["sources"].__setitem__(0, "TSH"), "names of sources must differ"),
        (lambda p: p.header["options"].update(slack=[1]), "options must map"),
        (lambda p: p.header.update(options=[]), "options must map"),
        (set_shape("forest.value", [2**40, 2**40]), "should take it to"),
        (set_shape("forest.value", [0, 2**47]), "should take it to"),
        (set_shape("forest.value", [-1, -46]), "impossible shape"),
        (set_shape("forest.value", [True, 46]), "one or two sizes"),
        (set_shape("forest.value", []), "one or two sizes"),
        (lambda p: p.table[0].update(dtype="O"), "has the type 'O'"),
        (lambda p: p.table[0].update(name="forest.origin"), "unknown array, 'forest.origin'"),
        (lambda p: p.table[1].update(name="forest.left"), "same name"),
        (lambda p: p.table[0].update(offset=0), "nothing else"),
        (lambda p: p.table[5].update(dtype="<i8"), "forest.threshold must be an array of float64"),
        (lambda p: p.table.__setitem__(0, None), "nothing else"),
        (set_entry("forest.right", 0, 10**6), "no forest: right must come after"),
        (set_entry("forest.left", 0, 0), "no forest: left must be the next node"),
        (set_entry("forest.feature", 0, 99), "no forest: feature must be below 5"),
        (set_entry("forest.threshold", 0, np.nan), "threshold must not be NaN"),
        (set_entry("forest.category_start", 1, -1), "category_start"),
        (set_entry("costs.price", 0, np.nan), "prices must be finite"),
        (set_entry("costs.needs", 0, 77), "needs must be numbers below 6"),
        (set_entry("costs.needs_start", 1, 3), "no table of costs: needs"),
    ],
)
def test_files_that_mean_harm(saved, edit, words):
    """Their checksums fit."""
    check_refused(saved, changed(edit), words)


def test_truth_values_and_characters(saved):
    def half_true(parts):
        parts.arrays[parts.index("forest.missing_left")].view(np.uint8)[0] = 2

    check_refused(saved, changed(half_true), "neither 0 nor 1")
    for number in (0xD800, 0x110000):

        def no_character(parts, number=number):
            parts.arrays[parts.index("forest.classes")].view(np.uint32)[0] = number

        check_refused(saved, changed(no_character), "characters that do not exist")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "64-bit float"),
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 9 + b"1" + b"}" * 9, "nested"),
        (b"1" * 5000, "64 bits"),
        (b"18446744073709551616", "64 bits"),
        (b"0." + b"1" * 5000, "64-bit float"),
        (b'"\\ud800"', "surrogates"),
        (b'"\xff"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"", "Expecting value"),
        (b"{} {}", "Extra data"),
    ],
)
def test_strict_json(text, words):
    with pytest.raises(InvalidInputError, match=words):
        read_json(text)


def test_brackets_in_text_are_no_nests():
    for text in ("[" * 50, '"[[[[[[[[[[', "\\[[[[[[[[[", "\\\\[[[[[[[[[[["):
        assert read_json(json.dumps({text: [text]}).encode()) == {text: [text]}


def test_a_long_header_is_not_read(saved, monkeypatch):
    monkeypatch.setattr(container, "LONGEST_HEADER", 128)
    check_refused(saved, GOLDEN[0].read_bytes(), "header cannot have")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidInputError, match=f"{file} cannot be loaded: it is no regular file"):
            load_model(file)


def test_errors_of_the_system_stay_what_they_are(tmp_path, saved):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)
    saved.chmod(0)
    if not os.access(saved, os.R_OK):  # who may read everything gets the model
        with pytest.raises(PermissionError):
            load_model(saved)


def test_a_few_hundred_broken_files(tmp_path):
    """`make fuzz` tries 20,000, and checks the bounds of arrays in kernels too."""
    reasons = fuzz(300, tmp_path)
    assert sum(reasons.values()) >= 300
    assert len(reasons) > 20  # many checks are reached
    assert reasons[""] > 3  # and some files are fine


# --- What cannot be saved -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slack": float("inf")}, "finite numbers"),
        ({"slack": float("nan")}, "finite numbers"),
        ({"big": 2**70}, "64 bits"),
        ({"deep": [1]}, "options must map"),
        ({1: 2}, "options must map"),
        ({"half": "\ud800"}, "plain text"),
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
        ({"feature_names": ("\udc00", *"abcd")}, "plain text"),
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
        ({"needs_start": [0, 3, 2, 4, 5, 6]}, "never fall"),
        ({"needs_start": [0, 0, 2, 4, 5, 7]}, "end at the length"),
        ({"needs": [1, 5, 2, 5, 3, 6]}, "below 6"),
        ({"needs": [-1, 5, 2, 5, 3, 4]}, "below 6"),
        ({"needs": [5, 1, 2, 5, 3, 4]}, "grow within"),
        ({"needs": [5, 5, 2, 5, 3, 4]}, "grow within"),
    ],
)
def test_tables_of_costs_are_checked(model, change, words):
    costs = model[1]
    assert costs.needs_start.tolist() == [0, 0, 2, 4, 5, 6]
    assert costs.needs.tolist() == [1, 5, 2, 5, 3, 4]
    check_cost_table(costs, 5)
    arrays = {name: entry if isinstance(entry, tuple) else np.array(entry) for name, entry in change.items()}
    with pytest.raises(InvalidInputError, match=f"no table of costs: .*{words}"):
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
