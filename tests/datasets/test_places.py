"""Where loaders look, what they keep, and what they say when there is nothing."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from urllib.error import URLError

import numpy as np
import pytest

from budgetprune import BudgetPruneError
from budgetprune.datasets import (
    DatasetError,
    load_covertype,
    load_heart,
    load_miniboone,
    load_miniboone_tiny,
    load_mq2008,
    load_thyroid,
)
from budgetprune.datasets import covertype as _covertype
from budgetprune.datasets import files as _files
from budgetprune.datasets.loader import digest

from ..persistence.archives import little_memory, write_zeros
from .conftest import save

FILES = {
    load_covertype: "covtype.npz",
    load_miniboone: "miniboone.npz",
    load_miniboone_tiny: "miniboone_tiny.npz",
    load_mq2008: "mq2008.npz",
}


@pytest.mark.parametrize(("load", "file"), FILES.items())
def test_data_home_comes_first_then_the_named_folder_then_the_cache(
    load, file, home, shared, tmp_path, any_rows
):
    cached = save(home / file, seed=1)
    assert np.array_equal(load().X, cached)
    named = save(shared / file, seed=3)
    assert np.array_equal(load().X, named)
    assert np.array_equal(load(data_home=tmp_path / "mine").X, named)  # there is nothing yet
    mine = save(tmp_path / "mine" / file, seed=2)
    assert np.array_equal(load(data_home=tmp_path / "mine").X, mine)
    assert np.array_equal(load(str(tmp_path / "mine"), download=False).X, mine)


def test_a_file_at_hand_must_hold_what_its_name_says(shared):
    save(shared / "covtype.npz")
    with pytest.raises(DatasetError, match=r"covtype\.npz is not the Covertype data that this package knows"):
        load_covertype()


def test_data_sets_that_differ_have_different_digests(shared):
    save(shared / "mq2008.npz", seed=0)
    first, again = load_mq2008(), load_mq2008()
    save(shared / "mq2008.npz", seed=1)
    assert first.digest == again.digest != load_mq2008().digest


def test_arrays_become_a_data_set(shared):
    X = save(
        shared / "mq2008.npz", split=np.array([0, 0, 1, 1, 2, 2]), qid=np.arange(6), y=np.int32([0, 1, 2] * 2)
    )
    data = load_mq2008()
    assert (data.name, data.feature_names, data.costs) == (
        "MQ2008",
        ("feature 0", "feature 1", "feature 2"),
        None,
    )
    assert (data.X.dtype, data.y.dtype, data.qid.dtype, data.split.dtype) == ("f4", "i8", "i8", "i1")
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    assert data.split.tolist() == [0, 0, 1, 1, 2, 2]
    assert repr(data) == "<Dataset MQ2008: 6 rows, 3 features>"


def test_rows_for_validation_that_are_not_there_are_noted(shared):
    save(shared / "mq2008.npz", split=np.array([0, 0, 0, 2, 2, 2]), qid=np.arange(6))
    assert load_mq2008().note == "without the rows for validation"


def test_file_without_names_or_split(shared):
    save(shared / "miniboone.npz", feature_names=None)
    data = load_miniboone()
    assert data.feature_names == ("x0", "x1", "x2")
    assert data.split is None
    assert data.qid is None


@pytest.mark.parametrize(
    ("y", "note"),
    [
        (np.arange(6) % 2, "class-balanced subset of MiniBooNE: 6 of 130,064 rows"),
        (np.int64([0, 0, 0, 0, 1, 1]), "subset of MiniBooNE: 6 of 130,064 rows"),
    ],
)
def test_subset_is_noted(shared, y, note):
    save(shared / "miniboone.npz", y=y)
    assert load_miniboone().note == note


def test_looking_leaves_no_folder_behind(home, tmp_path):
    with pytest.raises(DatasetError):
        load_covertype(download=False)
    with pytest.raises(DatasetError):
        load_covertype(data_home=tmp_path / "mine", download=False)
    assert list(tmp_path.iterdir()) == []


def test_named_folder_must_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("BUDGETPRUNE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"BUDGETPRUNE_DATA is .*nowhere.*no folder"):
        load_covertype()


@pytest.mark.parametrize(
    ("load", "what"),
    [
        (load_covertype, "covtype.npz was found neither .*, and download=False prevents .* that is online"),
        (load_miniboone, r"MiniBooNE_PID\.txt from UCI's data set 199"),
        (load_thyroid, r"Get ann-train\.data and ann-test\.data from https://.*/thyroid-disease/"),
        (load_heart, r"Get processed\.cleveland\.data from https://.*/heart-disease/"),
        (load_mq2008, r"mq2008\.npz was found neither .* LETOR 4\.0 .* with Fold1 in it"),
        (load_miniboone_tiny, "code of the paper"),
    ],
)
def test_nothing_found(load, what, home):
    with pytest.raises(DatasetError, match=what) as caught:
        load(download=False)
    assert f"Put it into {home}, or into a folder that BUDGETPRUNE_DATA names." in str(caught.value)
    assert isinstance(caught.value, BudgetPruneError)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("load", [load_mq2008, load_miniboone_tiny])
def test_no_public_source(load):
    with pytest.raises(DatasetError, match="was found neither") as caught:
        load(download=True)
    assert "download=False" not in str(caught.value)


# --- Files that are not what they should be -----------------------------------------------------------------


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


# --- Fetching -----------------------------------------------------------------------------------------------


@pytest.fixture
def source(monkeypatch):
    """Stand in for scikit-learn's source of Covertype; returns the calls, and the rows."""
    X = np.random.default_rng(0).integers(0, 9, size=(8, 54)).astype(float)
    y = np.arange(8, dtype=np.int32) % 7 + 1
    calls = []

    def fetch(**keywords):
        calls.append(keywords)
        return X, y

    monkeypatch.setattr(_covertype, "fetch_covtype", fetch)
    known = digest({"X": X, "y": y})
    monkeypatch.setattr(_covertype, "_COVERTYPE", replace(_covertype._COVERTYPE, digest=known))
    return calls, X, y


def test_what_is_fetched_is_kept(source, home):
    calls, X, y = source
    data = load_covertype()
    again = load_covertype(download=False)
    assert calls == [{"data_home": None, "return_X_y": True}]
    assert [file.name for file in home.iterdir()] == ["covtype.npz"]
    for found in (data, again):
        assert found.X.dtype == np.float32
        assert np.array_equal(found.X, X)
        assert np.array_equal(found.y, y)
        assert found.feature_names[0] == "Elevation"
        assert found.feature_names[-1] == "Soil_Type40"
        assert len(found.feature_names) == 54


def test_data_home_holds_what_is_fetched(source, tmp_path):
    load_covertype(tmp_path / "a" / "b")
    assert source[0] == [{"data_home": tmp_path / "a" / "b", "return_X_y": True}]
    assert (tmp_path / "a" / "b" / "covtype.npz").is_file()


def test_other_rows_than_known_are_refused(source, home):
    source[1][3, 7] += 1
    with pytest.raises(DatasetError, match=r"not the Covertype data .* SHA-256 is [0-9a-f]{64} instead of"):
        load_covertype()
    assert not home.exists()


def test_known_digests_are_of_real_data(source, monkeypatch):
    monkeypatch.undo()  # the real digest, with made rows
    monkeypatch.setattr(_covertype, "fetch_covtype", lambda **_: source[1:])
    with pytest.raises(DatasetError, match="instead of 672e1266"):
        load_covertype(data_home="nowhere")


def test_an_interrupted_write_leaves_nothing(source, home, monkeypatch):
    def interrupted(handle, **_):
        handle.write(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr(_files.np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_covertype()
    assert list(home.iterdir()) == []


def test_a_home_that_cannot_be_written_to(source, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="Covertype could not be stored"):
        data = load_covertype(data_home=tmp_path / "file" / "folder")
    assert np.array_equal(data.X, source[1])


@pytest.mark.parametrize(
    "error", [URLError("no route to host"), TimeoutError("timed out"), ValueError("md5")]
)
def test_offline(monkeypatch, home, error):
    def fail(**_):
        raise error

    monkeypatch.setattr(_covertype, "fetch_covtype", fail)
    with pytest.raises(
        DatasetError, match=rf"Covertype could not be fetched \({type(error).__name__}"
    ) as caught:
        load_covertype()
    assert str(home) in str(caught.value)
    assert caught.value.__cause__ is error
