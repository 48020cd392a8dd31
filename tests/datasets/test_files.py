"""Files that are not what they should be."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from budgetprune.datasets import DatasetError, load_covertype, load_mq2008

from ..persistence.archives import little_memory, write_zeros
from .conftest import save


def _cut(file):
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _flip(file):
    content = bytearray(file.read_bytes())
    content[200] ^= 255  # within X
    file.write_bytes(bytes(content))


def _replace(file):
    with file.open("wb") as handle:  # np.save would add .npy to a name
        np.save(handle, np.arange(3))


@pytest.mark.parametrize("damage", [_cut, _flip, _replace, lambda file: file.write_text("<html>")])
def test_damaged_file(home, damage):
    save(home / "covtype.npz")
    damage(home / "covtype.npz")
    with pytest.raises(DatasetError, match=r"covtype\.npz is damaged, .* delete it and load again"):
        load_covertype()


def test_pickles_are_not_opened(home):
    save(home / "covtype.npz", y=np.array([{}] * 6, dtype=object))
    with pytest.raises(DatasetError, match="array 'y' must hold numbers"):
        load_covertype()


def test_files_that_unpack_to_much_more_than_they_are(home):
    save(home / "covtype.npz")
    with zipfile.ZipFile(home / "covtype.npz", "a") as archive:
        write_zeros(archive, "more.npy", "|u1", (2**28,))
    with pytest.raises(DatasetError, match="unpack to"), little_memory():
        load_covertype()


def test_arrays_that_no_data_set_has_are_not_unpacked(shared):
    save(shared / "mq2008.npz")
    with zipfile.ZipFile(shared / "mq2008.npz", "a") as archive:
        write_zeros(archive, "more.npy", "|u1", (2**25,))
    with little_memory():
        assert load_mq2008().X.shape == (6, 3)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"X": None}, "there is no array X"),
        ({"y": None}, "there is no array y"),
        ({"X": np.zeros(6, np.float32)}, "X must be a table"),
        ({"X": np.full((6, 3), "a")}, "X must be a table"),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0, int)}, "there are no rows"),
        ({"y": np.arange(5)}, "y must be .* one for each of 6 rows"),
        ({"y": np.zeros(6)}, "y must be a list of whole numbers"),
        ({"split": np.full(6, 3)}, "split must be 0, 1 or 2"),
        ({"qid": np.zeros((6, 1), int)}, "qid must be"),
        ({"feature_names": np.array(["a", "b"])}, "feature_names must have 3 entries"),
    ],
)
def test_arrays_that_do_not_fit(home, more, what):
    save(home / "covtype.npz", **more)
    with pytest.raises(DatasetError, match=f"covtype.npz does not hold a data set: .*{what}"):
        load_covertype()
