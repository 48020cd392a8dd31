"""MiniBooNE from OpenML: labels, and whether it is the data that we know."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.datasets import DatasetError, load_miniboone
from budgetprune.datasets import miniboone as _miniboone
from budgetprune.datasets.miniboone import _signal_digest


@pytest.fixture
def rows(monkeypatch):
    """Stand in for OpenML, with eight rows of which three are signals."""
    X = np.random.default_rng(0).normal(size=(8, 50))
    target = np.array(["True", "False", "False", "True", "False", "True", "False", "False"], dtype=object)
    order = np.arange(8)
    calls = []

    def fetch(**keywords):
        calls.append(keywords)
        return X[order], target[order]

    monkeypatch.setattr(_miniboone, "fetch_openml", fetch)
    monkeypatch.setattr(_miniboone, "_N_SIGNAL", 3)
    monkeypatch.setattr(_miniboone, "_N_BACKGROUND", 5)
    known = _signal_digest({"X": X, "y": (target == "True").astype(int)})
    monkeypatch.setattr(_miniboone, "_SIGNAL_DIGEST", known)
    return X, target, order, calls


def test_fetched(rows):
    X, _, _, calls = rows
    data = load_miniboone()
    assert np.array_equal(data.X, X.astype(np.float32))
    assert data.y.tolist() == [1, 0, 0, 1, 0, 1, 0, 0]
    assert data.feature_names[:2] == ("ParticleID_0", "ParticleID_1")
    assert data.note == ""
    assert calls[0]["data_id"] == 41150
    load_miniboone()
    assert len(calls) == 1


def test_in_any_order(rows):
    rows[2][:] = rows[2][::-1].copy()
    assert load_miniboone().y.tolist() == [0, 0, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("without_pandas", [True, False])
def test_pandas_is_no_must(rows, monkeypatch, without_pandas):
    monkeypatch.setattr(_miniboone, "find_spec", lambda _: None if without_pandas else object())
    load_miniboone()
    assert rows[3][0]["parser"] == ("liac-arff" if without_pandas else "pandas")


def test_altered_rows_are_refused(rows, home):
    rows[0][5, 2] += 0.01
    with pytest.raises(DatasetError, match="data set 41150 of OpenML is not the MiniBooNE data"):
        load_miniboone()
    assert not home.exists()


def test_other_labels_are_refused(rows):
    rows[1][1] = "True"
    with pytest.raises(DatasetError, match="4 of 8 rows are signals"):
        load_miniboone()
