"""Tables of Arrow and DuckDB in estimators and predictors: the same results as from pandas."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetClassifier, BudgetPredictor, BudgetPruneClassifier, Forest
from budgetprune.utils.data_frames import as_data_frame


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + X["b"] > 0).to_numpy()


@pytest.mark.parametrize(
    "estimator",
    [
        BudgetPruneClassifier(RandomForestClassifier(3, random_state=0), random_state=0),
        BudgetClassifier(learner="hist", cv=2, time_limit=0, random_state=0),
    ],
    ids=["pruned", "staged"],
)
def test_estimators(rows, estimator):
    X, y = rows
    table = pa.Table.from_pandas(X)
    fitted = estimator.fit(table, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    from_arrow = fitted.predict_proba(table)
    assert np.array_equal(from_arrow, fitted.predict_proba(X))
    assert np.array_equal(from_arrow, estimator.fit(X, y).predict_proba(X))


def test_predictor(rows):
    X, y = rows
    predictor = BudgetPredictor(Forest.from_model(RandomForestClassifier(5, random_state=0).fit(X, y)))
    expected = predictor.simulate(X)
    with duckdb.connect() as connection:
        for table in (pa.Table.from_pandas(X), connection.from_df(X)):
            assert np.array_equal(predictor.predict(table), predictor.predict(X))
            assert np.array_equal(predictor.simulate(table).cost, expected.cost)


@pytest.mark.parametrize("value", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), np.ones(2), None])
def test_other_values_stay_as_they_are(value):
    assert as_data_frame(value) is value
