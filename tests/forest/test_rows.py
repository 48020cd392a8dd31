"""The gate for rows: every common form of a table goes through, and every fault is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from budgetprune.errors import InvalidInputError
from budgetprune.forest.rows import as_rows

pytestmark = pytest.mark.uncompiled


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
        lambda X: pl.DataFrame(X, schema=list("abcdef")),
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
    with pytest.raises(InvalidInputError, match=r"missing value \(NaN\) in row 4, feature 1"):
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


def test_spaces_in_names_may_have_become_underscores(X):
    table = pd.DataFrame(X, columns=[f"feature {k}" for k in range(6)])
    expected = {"n_features": 6, "dtype": X.dtype, "allow_nan": False}
    names = tuple(f"feature_{k}" for k in range(6))
    assert np.array_equal(as_rows(table, "X", feature_names=names, **expected), X)
    with pytest.raises(InvalidInputError, match="unknown are 'feature 0'"):
        as_rows(table, "X", feature_names=names[::-1], **expected)


def test_polars_columns_of_all_kinds_of_numbers(forest):
    table = pl.DataFrame(
        {
            "a": [1, None, 3],
            "b": [0.5, None, 2.0],
            "c": [True, False, None],
            "d": pl.Series([1, 2, 3], dtype=pl.UInt8),
            "e": pl.Series([None, None, None], dtype=pl.Null),
            "f": pl.Series([1.5, float("nan"), 2.5], dtype=pl.Float32),
        }
    )
    nan = np.nan
    expected = [[1, 0.5, 1, 1, nan, 1.5], [nan, nan, 0, 2, nan, nan], [3, 2, nan, 3, nan, 2.5]]
    assert np.array_equal(forest.prepare_rows(table), expected, equal_nan=True)


@pytest.mark.parametrize("column", [["1", "2", "3"], [b"1", b"2", b"3"], pl.date_range, pl.Categorical])
def test_polars_columns_that_are_no_numbers_are_named(forest, column):
    if column is pl.date_range:
        column = pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 1, 3), eager=True)
    elif column is pl.Categorical:
        column = pl.Series(["1", "2", "3"], dtype=pl.Categorical)
    table = pl.DataFrame(np.zeros((3, 6)), schema=list("abcdef")).with_columns(d=pl.Series(column))
    with pytest.raises(InvalidInputError, match=r"numbers only .column 'd' is"):
        forest.prepare_rows(table)
