"""The gate for rows: every common form of a table goes through, and every fault is named."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from budgetprune.errors import InvalidInputError

pytestmark = pytest.mark.nojit


@pytest.fixture
def forest(get_case):
    return get_case("random forest").forest


@pytest.fixture
def named(get_case):
    return get_case("random forest, table").forest


@pytest.fixture(name="X")
def some_rows():
    return np.random.default_rng(0).normal(size=(7, 6))


def is_one_cell(X):
    mask = np.zeros(X.shape, dtype=bool)
    mask[2, 3] = True
    return mask


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        sparse.csr_matrix,
        sparse.csc_array,
        pd.DataFrame,
        lambda X: pd.DataFrame(X).convert_dtypes(),
        lambda X: X.astype(object),
        lambda X: np.repeat(X, 2, axis=0)[::2],
    ],
)
def test_every_form_gives_the_same_rows(forest, X, form):
    rows = forest.prepare_rows(form(X))
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    assert np.array_equal(rows, X.astype(np.float32))


def test_missing_entries_of_a_table_become_nan(forest):
    table = pd.DataFrame({name: pd.array([1, None, 3], dtype="Int64") for name in "abcdef"})
    assert np.array_equal(np.isnan(forest.prepare_rows(table)[:, 0]), [False, True, False])


def test_rows_that_are_right_already_are_not_copied(forest, X):
    rows = forest.prepare_rows(X)
    assert np.shares_memory(forest.prepare_rows(rows), rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[:0], "rows_to_try has no rows"),
        (lambda X: X[:, :4], "4 feature.s., but the forest expects 6"),
        (lambda X: X[0], "1 dimension"),
        (lambda X: X.astype(str), "numbers only"),
        (lambda X: np.full((2, 6), "x", dtype=object), "numbers only"),
        (lambda X: X + 1j, "numbers only"),
        (lambda X: X.astype("datetime64[s]"), "numbers only"),
        (lambda X: np.where(is_one_cell(X), np.inf, X), "infinity.*row 2, feature 3 .1 in all."),
        (lambda X: np.where(is_one_cell(X), -np.inf, X), "infinity"),
        (lambda X: np.where(X > 0, np.inf, -np.inf), "infinity.*42 in all"),
        (lambda X: np.where(is_one_cell(X), 1e39, X), "too large for float32"),
    ],
)
def test_faults_are_named(forest, X, change, message):
    with pytest.raises(InvalidInputError, match=message):
        forest.prepare_rows(change(X), name="rows_to_try")


def test_missing_values_are_refused_where_they_cannot_be_routed(get_case, X):
    X[4, 1] = np.nan
    with pytest.raises(InvalidInputError, match="missing value in row 4, feature 1"):
        get_case("extra tree, best splitter").forest.prepare_rows(X)


def test_names_are_checked(named, X):
    names = list(named.feature_names)
    table = pd.DataFrame(X, columns=names)
    assert np.array_equal(named.prepare_rows(table), X.astype(np.float32))
    with pytest.raises(InvalidInputError, match="another order"):
        named.prepare_rows(table[names[::-1]])
    with pytest.raises(InvalidInputError, match="unknown are 'weight'; missing are 'b'"):
        named.prepare_rows(table.rename(columns={"b": "weight"}))
    with pytest.raises(InvalidInputError, match="missing are 'c'"):
        named.prepare_rows(table.drop(columns="c"))
    with pytest.raises(InvalidInputError, match="more than once"):
        named.prepare_rows(table[[*names, "a"]])


def test_faults_are_named_by_feature_name(named, X):
    X[3, 2] = np.inf
    with pytest.raises(InvalidInputError, match="row 3, feature 'c'"):
        named.prepare_rows(pd.DataFrame(X, columns=list("abcdef")))


def test_rows_without_names_are_taken_as_they_are(named, X):
    assert named.prepare_rows(X).shape == named.prepare_rows(pd.DataFrame(X)).shape == X.shape
