"""LightGBM's models that were trained on tables: names, and categories that it numbers itself."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest

from .zoo import SMALL, raw_scores

N_ROWS = 300
TOWNS, GRADES = ["Ulm", "Bonn", "Jena", "Kiel", "Trier", "Celle"], [3, 1, 2]


def table(seed=0, n_rows=N_ROWS, towns=TOWNS):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "net income": np.round(rng.normal(size=n_rows), 1),
            "town": pd.Categorical(rng.choice(towns, n_rows), categories=towns),
            "age": rng.integers(20, 60, n_rows),
            "grade": pd.Categorical(rng.choice(GRADES, n_rows), categories=GRADES),
        }
    )


def target(X):
    town = X["town"].isin(["Ulm", "Jena", "Celle"]).to_numpy()
    return X["net income"].to_numpy() + 2.0 * town + 0.05 * X["age"].to_numpy() + (X["grade"] == 1).to_numpy()


@pytest.fixture(scope="module")
def model():
    return lgb.LGBMRegressor(n_estimators=8, **SMALL).fit(table(), target(table()))


def test_names_and_categories(model):
    forest = Forest.from_model(model)
    assert forest.feature_names == ("net_income", "town", "age", "grade")
    assert forest.categories == (None, tuple(TOWNS), None, tuple(GRADES))
    assert (forest.category_set >= 0).any()


def test_tables_are_read_as_lightgbm_reads_them(model):
    """Also with categories in another order, unknown and missing ones, and from a model in a file."""
    X = table(1, towns=["Kiel", "Atlantis", "Ulm", "Jena", "Bonn"])
    X.loc[::7, "town"] = np.nan
    X.loc[::11, "net income"] = np.nan
    for origin in (model, lgb.Booster(model_str=model.booster_.model_to_string())):
        forest = Forest.from_model(origin)
        assert np.allclose(forest.scores(X), raw_scores(model.booster_, X, forest), atol=1e-13)
        assert np.array_equal(forest.scores(X), forest.scores(X.astype({"town": object, "grade": object})))
        assert np.allclose(forest.scores(X), raw_scores(forest.to_lightgbm(), X, forest), atol=1e-13)


def test_polars_tables_are_read_alike(model):
    X = table(1)
    forest = Forest.from_model(model)
    in_polars = pl.DataFrame({name: X[name].tolist() for name in X})
    for kind in (pl.String, pl.Categorical, pl.Enum(sorted(TOWNS))):
        assert np.array_equal(
            forest.scores(in_polars.with_columns(pl.col("town").cast(kind))), forest.scores(X)
        )


def test_arrays_hold_the_numbers_of_categories(model):
    X = table(1)
    numbers = X.assign(town=X["town"].cat.codes, grade=X["grade"].cat.codes).to_numpy()
    forest = Forest.from_model(model)
    assert np.array_equal(forest.scores(numbers), forest.scores(X))


def test_names_are_checked(model):
    with pytest.raises(InvalidInputError, match="missing are 'age'"):
        Forest.from_model(model).predict(table().rename(columns={"age": "years"}))


def test_where_the_columns_of_categories_cannot_be_told_numbers_are_asked_for():
    """Ordered categories are numbered, but are numbers to LightGBM then, which forgets where they are."""
    X = table()
    X["grade"] = X["grade"].cat.as_ordered()
    model = lgb.LGBMRegressor(n_estimators=8, **SMALL).fit(X, target(X))
    forest = Forest.from_model(model)
    with pytest.raises(
        InvalidInputError, match=r"'town' of X holds categories.*replace them by those numbers"
    ):
        forest.predict(X)
    numbers = X.assign(town=X["town"].cat.codes, grade=X["grade"].cat.codes)
    assert np.allclose(forest.scores(numbers), raw_scores(model.booster_, X, forest), atol=1e-13)


def test_categories_are_not_given_to_a_column_of_numbers():
    """`categorical_feature` may name other columns than those that the table marks."""
    X = table().drop(columns="grade")
    model = lgb.LGBMRegressor(n_estimators=8, **SMALL).fit(X, target(table()), categorical_feature=["age"])
    forest = Forest.from_model(model)
    assert forest.categories == (None, None, None)
    numbers = X.assign(town=X["town"].cat.codes)
    assert np.allclose(forest.scores(numbers), raw_scores(model.booster_, X, forest), atol=1e-13)
