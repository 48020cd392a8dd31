"""Files that are no models, or damaged, or meant to do harm: a clear error, and nothing else happens."""

from __future__ import annotations

import errno
import os
import shutil

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.persistence import VERSION, container

from .fuzz_model_file import fuzz
from .model_files import load_model
from .parts import GOLDEN, Parts, assemble, repaired

AVERAGED = next(file for file in GOLDEN if file.name == "averaged-1.budgetprune")


@pytest.fixture
def saved(tmp_path):
    return shutil.copy(AVERAGED, tmp_path / "a.budgetprune")


def check_refused(file, content: bytes, words: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=words) as caught:
        load_model(file)
    assert str(caught.value).startswith(f"{file} cannot be loaded: ")


def test_foreign_files(saved):
    for content in (b"", b"PK\3\4", b"lam,error\n0,1\n", b"\0" * 5000):
        check_refused(saved, content, "not a model that budgetprune saved")


def test_text_mode_is_noticed(saved):
    check_refused(saved, saved.read_bytes().replace(b"\r\n", b"\n"), "not a model that budgetprune saved")


def test_every_cut_is_noticed(saved):
    good = saved.read_bytes()
    for length in range(1, len(good), 7):
        check_refused(saved, good[:length], "is cut off")


def test_every_flipped_bit_is_noticed(saved):
    good = saved.read_bytes()
    for i in range(0, len(good), 11):
        bad = bytearray(good)
        bad[i] ^= 1 << i % 8
        check_refused(saved, bytes(bad), "cut off|damaged|not a model|newer budgetprune")


def test_bytes_behind_the_end(saved):
    check_refused(saved, saved.read_bytes() + b"\0" * 64, "damaged")
    check_refused(saved, repaired(AVERAGED.read_bytes() + b"\0" * 64), "should end at")


def test_newer_files(saved):
    """Of which nothing is known but the first bytes."""
    good = saved.read_bytes()
    newer = good[:16] + (VERSION + 6).to_bytes(4, "little") + b"something else" * 9
    check_refused(saved, newer, rf"newer budgetprune \(format {VERSION + 6}; .* up to {VERSION}\); upgrade")
    check_refused(saved, repaired(good[:16] + bytes(4) + good[20:]), "format 0, which is wrong")


def changed(edit) -> bytes:
    parts = Parts(AVERAGED.read_bytes())
    edit(parts)
    return assemble(parts.text().encode(), parts.body(), parts.version)


def set_shape(name, shape):
    return lambda parts: parts.table[parts.index(name)].update(shape=shape)


def set_entry(name, place, number):
    return lambda parts: parts.arrays[parts.index(name)].__setitem__(place, number)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda p: p.header.update(more=1), "unknown keys: .*more"),
        (lambda p: p.header.pop("options"), "no section options; its sections are forest, costs"),
        (lambda p: p.header["forest"].update(more=1), "unknown ones: .*more"),
        (lambda p: p.header["forest"].pop("link"), "lack link"),
        (lambda p: p.header["forest"].update(input_dtype="O"), "input_dtype must be one of"),
        (lambda p: p.header["forest"].update(feature_names="abcde"), "feature_names must be a list"),
        (
            lambda p: p.header["forest"].update(categories=[[[1]], None, None, None, None]),
            "categories must be",
        ),
        (lambda p: p.header["forest"].update(divisor=0), "divisor"),
        (lambda p: p.header["forest"].update(divisor=1e-300), "divisor must be a number from 0.001 to 1e.12"),
        (lambda p: p.header["forest"].update(divisor=1e300), "divisor must be a number from 0.001 to 1e.12"),
        (lambda p: p.header["forest"].update(n_features=10**18), "n_features"),
        (lambda p: p.header["forest"].update(n_features=6, feature_names=None, categories=None), "each of 6"),
        (lambda p: p.header.update(sources="abcdef"), "sources must be a list"),
        (lambda p: p.header["sources"].__setitem__(0, "TSH"), "names of sources must differ"),
        (lambda p: p.header["options"].update(slack=[1]), "options must map"),
        (lambda p: p.header.update(options=[]), "options must map"),
        (set_shape("forest.value", [2**40, 2**40]), "should end at"),
        (set_shape("forest.value", [0, 2**47]), "should end at"),
        (set_shape("forest.value", [-1, -46]), "impossible shape"),
        (set_shape("forest.value", [True, 46]), "one or two sizes"),
        (set_shape("forest.value", []), "one or two sizes"),
        (lambda p: p.table[0].update(dtype="O"), "has the type 'O'"),
        (lambda p: p.table[0].update(name="forest.origin"), "unknown array, 'forest.origin'"),
        (lambda p: p.table[1].update(name="forest.left"), "same name"),
        (lambda p: p.table[0].update(offset=0), "nothing else"),
        (lambda p: p.table[5].update(dtype="<i8"), "forest.threshold must be an array of float64"),
        (lambda p: p.table.__setitem__(0, None), "nothing else"),
        (set_entry("forest.right", 0, 10**6), "not a forest: right must come after"),
        (set_entry("forest.left", 0, 0), "not a forest: left must be the next node"),
        (set_entry("forest.feature", 0, 99), "not a forest: feature must be below 5"),
        (set_entry("forest.threshold", 0, np.nan), "threshold must not be NaN"),
        (set_entry("forest.category_start", 1, -1), "category_start"),
        (set_entry("forest.value", 0, 1.7e308), "value must be finite, and from -1e.304 to 1e.304"),
        (set_entry("forest.value", slice(None), 9e303), "value and base must add up to at most 1e.304"),
        (set_entry("forest.base", 0, -1.7e308), "base must be finite, and from -1e.304 to 1e.304"),
        (set_entry("forest.weight", 0, -1.0), "weight must be finite, and from 0 to 1e.100"),
        (set_entry("forest.threshold", slice(None), 0.5), "NaN at leaves and splits by category"),
        (set_entry("costs.price", 0, np.nan), "prices must be finite"),
        (set_entry("costs.price", 0, 1e308), "prices must be 0 or from 1e-50 to 1e.50"),
        (set_entry("costs.price", 0, 5e-324), "prices must be 0 or from 1e-50 to 1e.50"),
        (set_entry("costs.needs", 0, 77), "needs must be numbers of sources, below 6"),
        (set_entry("costs.needs_start", 1, 3), "not a table of costs: needs"),
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


def test_a_long_header_is_not_read(saved, monkeypatch):
    monkeypatch.setattr(container, "LONGEST_HEADER", 128)
    check_refused(saved, AVERAGED.read_bytes(), "header cannot have")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidInputError, match=f"{file} cannot be loaded: it is not a regular file"):
            load_model(file)


def test_errors_of_the_system_stay_what_they_are(tmp_path, saved):
    with pytest.raises(
        FileNotFoundError, match="nothing cannot be read: No such file or directory"
    ) as caught:
        load_model(tmp_path / "nothing")
    assert isinstance(caught.value, InvalidInputError)
    assert caught.value.errno == errno.ENOENT
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
