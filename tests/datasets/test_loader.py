"""Where loaders look, what they keep, and what they say when there is nothing."""

from __future__ import annotations

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


def test_looking_leaves_no_folder_behind(home, tmp_path):
    with pytest.raises(DatasetError):
        load_covertype(download=False)
    with pytest.raises(DatasetError):
        load_covertype(data_home=tmp_path / "mine", download=False)
    assert list(tmp_path.iterdir()) == []


def test_named_folder_must_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("BUDGETPRUNE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"BUDGETPRUNE_DATA is .*nowhere.*not a folder"):
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
