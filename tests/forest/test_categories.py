"""Categories of tables become the numbers that the model was trained with."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.forest.rows import as_rows

pytestmark = pytest.mark.uncompiled

COLORS, SIZES = ("red", "green", "blue"), (10, 20, 30)
AMOUNT = [0.5, 1.5, 2.5, 3.5]
COLOR = ["blue", "violet", None, "red"]
SIZE = [30, 7, None, 20]
EXPECTED = np.array([[0.5, 2, 2], [1.5, np.nan, np.nan], [2.5, np.nan, np.nan], [3.5, 0, 1]])


def encode(X, other=None):
    known = (None, COLORS if other is None else (other, *COLORS), SIZES)
    return as_rows(
        X,
        "rows_to_try",
        n_features=3,
        feature_names=None,
        dtype=np.dtype(np.float64),
        allow_nan=True,
        categories=known,
        other_category=other,
    )


def pandas_table(color="object", size="float64"):
    columns = {"color": pd.Series(COLOR, dtype="object"), "size": pd.Series(SIZE, dtype="float64")}
    return pd.DataFrame(
        {"amount": AMOUNT, "color": columns["color"].astype(color), "size": columns["size"].astype(size)}
    )


def polars_table(color, size=pl.Int64):
    return pl.DataFrame(
        {"amount": AMOUNT, "color": pl.Series(COLOR, dtype=color), "size": pl.Series(SIZE, dtype=size)}
    )


@pytest.mark.parametrize(
    "table",
    [
        pandas_table(),
        pandas_table("str", "Int64"),
        pandas_table("category", "category"),
        pandas_table(pd.CategoricalDtype(["violet", "blue", "red"]), pd.CategoricalDtype([30, 20, 7])),
        polars_table(pl.String),
        polars_table(pl.Categorical, pl.Float32),
        polars_table(pl.Enum(["violet", "red", "blue"])),
    ],
    ids=str,
)
def test_numbers_are_those_of_training_whatever_a_table_calls_its_categories(table):
    before = table.copy() if hasattr(table, "copy") else table.clone()
    assert np.array_equal(encode(table), EXPECTED, equal_nan=True)
    assert before.equals(table)


def test_arrays_hold_numbers_already():
    X = np.array([[0.5, 2.0, 1.0], [1.5, np.nan, 0.0]])
    assert np.array_equal(encode(X), X, equal_nan=True)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"amount": [1.0], "color": [None], "size": [np.nan]}),
        pl.DataFrame({"amount": [1.0], "color": [None], "size": [None]}),
    ],
)
def test_all_may_be_missing(table):
    assert np.array_equal(encode(table), [[1.0, np.nan, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pandas_table().assign(color=1), "'color' of rows_to_try holds 1, .* were 'red', 'green', 'blue'"),
        (pandas_table().assign(size="10"), "'size' of rows_to_try holds '10', .* were 10, 20, 30"),
        (polars_table(pl.String).with_columns(color=pl.lit(1)), "'color' of rows_to_try holds 1"),
        (pandas_table().assign(amount=pd.Categorical(AMOUNT)), "'amount' of rows_to_try holds categories"),
        (
            polars_table(pl.String).with_columns(amount=pl.col("color").cast(pl.Categorical)),
            "'amount' of rows_to_try holds categories",
        ),
        (pandas_table().assign(amount="x"), "numbers only"),
        (pandas_table().drop(columns="size"), "numbers only|2 feature"),
    ],
    ids=str,
)
def test_columns_of_another_kind_are_named(table, message):
    with pytest.raises(InvalidInputError, match=message):
        encode(table)


@pytest.mark.parametrize("table", [pandas_table(), polars_table(pl.String)], ids=["pandas", "polars"])
def test_unknown_categories_can_have_a_number_of_their_own(table):
    """Other features have no such category, so 7 is missing there."""
    expected = np.array([0, 1, 0]) + EXPECTED
    expected[1, 1] = 0
    assert np.array_equal(encode(table, "rest"), expected, equal_nan=True)


def test_empty_strings_are_missing_where_there_is_another_category():
    table = pandas_table().assign(color=["", "rest", "violet", "red"])
    assert np.array_equal(encode(table, "rest")[:, 1], [np.nan, 0, 0, 1], equal_nan=True)
