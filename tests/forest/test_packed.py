"""Packed nodes: thresholds in the precision of the rows, and pickles without them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from budgetprune.forest.packed import rounded_down

N_SETS = 5


def with_categories(forest):
    """Every third split asks for one of a few sets of categories instead."""
    rng = np.random.default_rng(0)
    is_set = forest.is_split & (np.arange(forest.n_nodes) % 3 == 2)
    return replace(
        forest,
        threshold=np.where(is_set, np.nan, forest.threshold),
        category_set=np.where(is_set, rng.integers(N_SETS, size=forest.n_nodes), -1),
        category_start=np.arange(N_SETS + 1),
        category_bits=rng.integers(2**32, size=N_SETS, dtype=np.uint32),
    )


TWISTS = {
    "thresholds": lambda forest: replace(forest, missing="forbidden"),
    "missing values": lambda forest: forest,
    "zeros are missing": lambda forest: replace(forest, missing="nan-or-zero"),
    "categories": with_categories,
    "all of it": lambda forest: replace(with_categories(forest), missing="nan-or-zero"),
    "double precision": lambda forest: replace(forest, input_dtype=np.dtype(np.float64)),
}


@pytest.fixture(params=TWISTS)
def forest(request, get_case):
    return TWISTS[request.param](get_case("random forest, missing").forest)


@pytest.fixture
def rows(forest, get_case):
    rows = get_case("random forest, missing").rows[:200]
    return forest.prepare_rows(np.nan_to_num(rows) if forest.missing == "forbidden" else rows)


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


def test_what_is_packed_stays_out_of_pickles(forest, rows):
    before = len(pickle.dumps(replace(forest, origin=None)))
    forest = replace(forest, origin=None)
    forest.scores(rows)
    assert len(pickle.dumps(forest)) == before
    assert np.array_equal(pickle.loads(pickle.dumps(forest)).scores(rows), forest.scores(rows))
