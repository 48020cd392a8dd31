"""Loading of library files: trial in a process with limited time and memory, and checks of the result."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from textwrap import dedent

import catboost
import lightgbm
import numpy as np
import pytest
import skops.io
import xgboost
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, InvalidInputError
from budgetprune.forest.registry import adapter_of_suffix
from budgetprune.workflow import library_files
from budgetprune.workflow.library_files import load_library_file

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("models")
    booster = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, Y), 3)
    booster.save_model(folder / "m.json")
    booster.save_model(folder / "m.ubj")
    lightgbm.train(
        {"objective": "binary", "verbose": -1, "min_data_in_leaf": 2}, lightgbm.Dataset(X, Y), 3
    ).save_model(folder / "m.txt")
    small = {"iterations": 3, "verbose": 0, "allow_writing_files": False}
    catboost.CatBoostClassifier(**small).fit(X, Y).save_model(str(folder / "m.cbm"))
    onnx_file = folder / "m.onnx"
    onnx_file.write_bytes(Forest.from_model(booster).to_onnx().SerializeToString())
    skops.io.dump(RandomForestClassifier(3, random_state=0).fit(X, Y), folder / "m.skops")
    return folder


@pytest.fixture
def replace_library(monkeypatch, tmp_path):
    """Give the process that tries files another xgboost than the one here."""

    def replace(load: str) -> None:
        body = f"class Booster:\n    def load_model(self, content):\n        {load}\n"
        (tmp_path / "xgboost.py").write_text(dedent(body))
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    return replace


@pytest.mark.parametrize("name", ["m.json", "m.ubj", "m.txt", "m.skops", "m.cbm", "m.onnx"])
def test_what_was_tried_is_what_is_loaded(files, name):
    tried, at_once = (load_library_file(files / name, trust=trust) for trust in (False, True))
    one, other = Forest.from_model(tried), Forest.from_model(at_once)
    assert np.array_equal(one.scores(X), other.scores(X))
    assert np.array_equal(one.split_gain, other.split_gain)
    assert one.feature_names == other.feature_names


def refuse(file: Path, words: str) -> None:
    with pytest.raises(InvalidInputError, match=f"is damaged or hostile: .*{words}.*--trust. skips"):
        load_library_file(file)


@pytest.mark.skipif(sys.platform == "win32", reason="processes do not end by signals")
def test_a_crash_is_an_error(files, replace_library):
    replace_library("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    refuse(files / "m.json", "xgboost crashed on it .SIGSEGV.")


def test_an_end_without_an_answer_is_an_error(files, replace_library):
    replace_library("import os; os._exit(0)")
    refuse(files / "m.json", "xgboost crashed on it")


def test_a_hang_is_an_error(files, replace_library, monkeypatch):
    replace_library("import time; time.sleep(1000)")
    monkeypatch.setattr(library_files, "SECONDS", 1)
    monkeypatch.setattr(library_files, "SECONDS_PER_MIB", 0)
    refuse(files / "m.json", "more than 1 seconds")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux only")
def test_memory_is_limited(files, replace_library):
    replace_library("bytearray(2**40)")
    refuse(files / "m.json", "MiB of memory")


def test_limits_grow_with_the_file(files, replace_library, tmp_path):
    file = tmp_path / "large.json"
    file.write_bytes(b"{" + bytes(3 * 2**20))
    replace_library("import sys; raise ValueError(sys.argv[2:])")
    limits = [str(2**31 + 4 * 2**27), "68"]
    with pytest.raises(InvalidInputError, match=f"ValueError: \\{limits}"):
        load_library_file(file)


def test_what_a_library_prints_is_no_answer(files, replace_library):
    replace_library("import os; os.write(1, b'{}\\n' * 9); print('{}'); raise ValueError('no')")
    with pytest.raises(InvalidInputError, match=r"m\.json cannot be loaded .ValueError: no."):
        load_library_file(files / "m.json")


def test_trust_starts_no_process(files, monkeypatch):
    monkeypatch.setattr(library_files.subprocess, "run", None)
    for name in ("m.json", "m.ubj", "m.txt", "m.skops", "m.cbm", "m.onnx"):
        load_library_file(files / name, trust=True)


def test_a_file_is_read_once(files, monkeypatch, replace_library):
    """It cannot change between the trial and the loading: both get the same bytes."""
    contents = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: contents.append(file) or read_bytes(file))
    monkeypatch.setattr(library_files, "_try_loading", lambda file, adapter, reader, content: content)
    load_library_file(files / "m.skops")
    assert contents == [files / "m.skops"]


def test_the_child_imports_the_library_and_little_else(files, replace_library):
    replace_library("import sys; raise ValueError({'budgetprune', 'sklearn', 'numpy'} & set(sys.modules))")
    with pytest.raises(InvalidInputError, match=r"ValueError: set\(\)"):
        load_library_file(files / "m.json")


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("m.txt", r"(?m)^split_feature=\d", "split_feature=9", "splits by the feature 9"),
        ("m.json", r'"left_children":\[1', '"left_children":[0', "of tree 0"),
    ],
)
def test_damage_is_seen_before_the_library_loads_it_here(tmp_path, files, monkeypatch, name, old, new, words):
    """LightGBM counts how often features are used when it writes a model, without looking at bounds."""
    text = re.sub(old, new, (files / name).read_text(), count=1)
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(library_files, "_try_loading", lambda file, adapter, reader, content: content)
    monkeypatch.setattr(adapter_of_suffix((tmp_path / name).suffix).reader, "load", None)
    with pytest.raises(InvalidInputError, match=f"this model is damaged: .*{words}"):
        load_library_file(tmp_path / name)


def test_a_damaged_model_goes_no_further(files, tmp_path):
    """XGBoost loads a tree that is a cycle; the importer refuses it."""
    document = json.loads((files / "m.json").read_bytes())
    document["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"][0] = 0
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(InvalidInputError, match=r"damaged|cannot be loaded"):
        Forest.from_model(load_library_file(tmp_path / "m.json"))
