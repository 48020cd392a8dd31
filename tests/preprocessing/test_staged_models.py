"""Staged models on raw columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.preprocessing.tables import NUMBERS, make_table
from tests.preprocessing.test_raw_rows import PRICES, encoders, fetching

from budgetprune import BudgetClassifier, BudgetPredictor, BudgetRegressor, InvalidInputError

SETTINGS = {"budget": 4.0, "random_state": 0, "learner": "hist", "cv": 3, "time_limit": 1, "n_jobs": 1}


@pytest.fixture(scope="module")
def fitted():
    X, y = make_table(300)
    return BudgetClassifier(PRICES, preprocessing=encoders(), **SETTINGS).fit(X, y)


@pytest.fixture(scope="module")
def rows():
    return make_table(30, seed=3)[0]


def test_costs_are_those_of_raw_columns(fitted, rows):
    assert fitted.predictor().source_names == tuple(PRICES)
    bought = {source for stage in fitted.stages_ for source in stage.sources}
    assert bought <= set(PRICES)
    assert fitted.score(*make_table(200, seed=4)) > 0.6
    simulation = fitted.predictor().simulate(rows)
    np.testing.assert_array_equal(simulation.label, fitted.predict(rows))
    np.testing.assert_allclose(simulation.cost, fitted.acquisition_cost(rows))


def test_one_row_fetches_raw_values(fitted, rows, tmp_path):
    fitted.predictor().save(tmp_path / "model.budgetprune")
    loaded = BudgetPredictor.load(tmp_path / "model.budgetprune")
    assert loaded.feature_names == tuple(PRICES)
    labels = fitted.predict(rows)
    for predictor in (fitted.predictor(), loaded, loaded.with_budget(4.0)):
        for i in range(8):
            fetch, asked = fetching(rows.iloc[i])
            decision = predictor.decide(fetch)
            assert decision.label == labels[i]
            assert decision.cost == sum(PRICES[source] for source in asked)
            assert predictor.decide(rows.iloc[i].to_dict()).cost == decision.cost
    np.testing.assert_array_equal(loaded.predict(rows), fitted.predictor().predict(rows))


def test_training_equals_training_on_encoded_columns(rows):
    """With one feature per column, the model is the one of the encoded table."""
    X, y = make_table(300, missing=False)
    scaler = StandardScaler().fit(X[NUMBERS])
    prices = {name: PRICES[name] for name in NUMBERS}
    # What is trained within a time limit depends on the machine.
    settings = SETTINGS | {"learner": "lightgbm", "time_limit": None}
    one = BudgetClassifier(prices, preprocessing=FrozenEstimator(scaler), **settings).fit(X[NUMBERS], y)
    other = BudgetClassifier(list(prices.values()), **settings).fit(scaler.transform(X[NUMBERS]), y)
    encoded = scaler.transform(rows[NUMBERS])
    np.testing.assert_array_equal(one.predict_proba(rows[NUMBERS]), other.predict_proba(encoded))
    np.testing.assert_array_equal(one.acquisition_cost(rows[NUMBERS]), other.acquisition_cost(encoded))


def test_text_that_the_preprocessing_leaves_becomes_categories(rows):
    X, _ = make_table(300)
    target = X["income"].fillna(0) + 50 * (X["city"] == "Ulm")
    passing = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    model = BudgetRegressor(PRICES, preprocessing=passing, **SETTINGS | {"budget": None}).fit(X, target)
    assert model.score(X, target) > 0.8
    decision = model.predictor().decide(rows.iloc[0].to_dict())
    np.testing.assert_allclose(decision.label, model.predict(rows[:1])[0])


def test_arrays_of_objects():
    X, y = make_table(200, missing=False)
    encoder = make_column_transformer((OneHotEncoder(), [1, 3]), remainder="passthrough")
    model = BudgetClassifier(list(PRICES.values()), preprocessing=encoder, **SETTINGS)
    table = X.to_numpy(dtype=object)
    assert model.fit(table, y).predict(table).shape == (200,)
    assert model.predictor().feature_names == ("x0", "x1", "x2", "x3", "x4")


def test_rows_of_weight_zero_fit_nothing():
    X, y = make_table(200, missing=False)
    weight = np.ones(200)
    weight[:50] = 0
    odd = X.copy()
    odd.loc[:49, "city"] = "nowhere"
    one = BudgetClassifier(PRICES, preprocessing=encoders(), **SETTINGS).fit(odd, y, weight)
    assert not any("nowhere" in name for name in one.predictor().forest.names)


def test_invalid_preprocessing():
    X, y = make_table(60, missing=False)
    with pytest.raises(InvalidInputError, match="risk is tested on rows that are used for nothing else"):
        BudgetClassifier(PRICES, preprocessing=encoders(), risk=(0.1, 0.9)).fit(X, y)
    with pytest.raises(InvalidInputError, match="preprocessing must be a transformer"):
        BudgetClassifier(PRICES, preprocessing=5).fit(X, y)
    with pytest.raises(InvalidInputError, match="costs lacks 'visits'"):
        BudgetClassifier({k: v for k, v in PRICES.items() if k != "visits"}, preprocessing=encoders()).fit(
            X, y
        )
    assert clone(BudgetClassifier(preprocessing=make_pipeline(StandardScaler()))).preprocessing is not None


def test_a_step_that_cannot_be_traced(rows):
    from sklearn.preprocessing import FunctionTransformer

    X, y = make_table(200, missing=False)
    strange = make_pipeline(FunctionTransformer(lambda x: x[["income", "age"]] * 2))
    with pytest.raises(InvalidInputError, match=r"needs=\{'functiontransformer': 'all'\}"):
        BudgetClassifier(PRICES, preprocessing=strange, **SETTINGS).fit(X, y)
    said = {"functiontransformer": [["income"], ["age"]]}
    model = BudgetClassifier(PRICES, preprocessing=strange, needs=said, **SETTINGS).fit(X, y)
    cost = model.acquisition_cost(rows)
    assert set(np.unique(cost)) <= {0.0, 1.0, 7.0, 8.0}
    assert isinstance(rows, pd.DataFrame)
