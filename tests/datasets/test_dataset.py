"""`Dataset`: arrays of a file, and notes on rows that are missing."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.datasets import load_miniboone, load_mq2008

from .conftest import save


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
