"""Packed nodes: thresholds in the precision of the rows, and pickles without them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from budgetprune.forest.packed import rounded_down

THRESHOLDS = [0.1, 0.5, -0.1, 1e-50, -1e-50, 0.0, 1e300, -1e300, np.inf, -np.inf, 16777217.0, -16777217.0]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_rounded_thresholds_ask_the_same_of_rounded_rows(threshold):
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    low, high = np.float32(-np.inf), np.float32(np.inf)
    x = np.array([np.nextafter(near, low), near, np.nextafter(near, high), 0.0], dtype=np.float32)
    rounded = rounded_down(np.array([threshold]), np.dtype(np.float32))
    assert rounded.dtype == np.float32
    assert (x <= rounded).tolist() == (x.astype(np.float64) <= threshold).tolist()


def test_thresholds_that_say_nothing_stay_so():
    assert np.isnan(rounded_down(np.array([np.nan]), np.dtype(np.float32))).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_bits_of_nan_are_nan(dtype):
    """A signalling NaN, as a damaged file may hold it at a leaf, gives no warning."""
    signalling = np.array([0x7FF0000000000001, 0xFFF4000000000000], dtype=np.uint64).view(np.float64)
    assert np.isnan(rounded_down(signalling, np.dtype(dtype))).all()


def test_packed_nodes_are_not_pickled(variant, variant_rows):
    forest, rows = replace(variant, origin=None), variant_rows
    before = len(pickle.dumps(forest))
    forest.scores(rows)
    assert len(pickle.dumps(forest)) == before
    assert np.array_equal(pickle.loads(pickle.dumps(forest)).scores(rows), forest.scores(rows))
