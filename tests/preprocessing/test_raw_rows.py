"""Predictions from raw rows: equal to scikit-learn's pipeline, and paid for by raw column."""

import asyncio
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)
from tests.preprocessing.tables import EXTERNAL, NUMBERS, make_table

from budgetprune import AcquisitionError, BudgetPredictor, FeatureCosts, Forest, InvalidInputError
from budgetprune.preprocessing import Preprocessing

PRICES = {"age": 1.0, "city": 2.0, "income": 7.0, "plan": 0.0, "visits": 3.0}


def encoders():
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age"]),
        (TargetEncoder(), ["plan"]),
        (PolynomialFeatures(2, interaction_only=True), ["income", "visits"]),
        sparse_threshold=0,
    )


@pytest.fixture(scope="module")
def pipeline():
    X, y = make_table(300)
    return make_pipeline(encoders(), RandomForestClassifier(9, max_depth=5, random_state=0)).fit(X, y)


@pytest.fixture(scope="module")
def predictor(pipeline):
    return BudgetPredictor(
        Forest.from_model(pipeline[-1]),
        FeatureCosts(PRICES),
        preprocessing=Preprocessing.from_sklearn(pipeline[:-1], make_table(300)[0]),
    )


@pytest.fixture(scope="module")
def rows():
    X, _ = make_table(40, seed=2)
    X.loc[0, "city"] = "Rome"  # unknown
    return X


def fetching(row, prices=PRICES):
    """Return a function that gives raw values, and the list of the sources it was asked for."""
    asked = []

    def fetch(source):
        asked.append(source)
        return row[source]

    return fetch, asked


def test_predictions_equal_those_of_the_pipeline(pipeline, predictor, rows):
    np.testing.assert_array_equal(predictor.predict(rows), pipeline.predict(rows))
    np.testing.assert_allclose(predictor.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-12)
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, pipeline.predict(rows))
    assert simulation.cost.mean() < sum(PRICES.values())
    table = pl.DataFrame({name: [None if pd.isna(v) else v for v in rows[name]] for name in rows})
    np.testing.assert_array_equal(predictor.simulate(table).cost, simulation.cost)


def test_names_are_those_of_raw_columns(predictor):
    assert predictor.feature_names == tuple(PRICES)
    assert predictor.source_names == tuple(PRICES)
    assert predictor.features_of("city") == ("city",)
    assert predictor.feature_costs.price.tolist() == list(PRICES.values())


def test_one_row_fetches_raw_values_one_by_one(pipeline, predictor, rows):
    simulation = predictor.simulate(rows)
    labels = pipeline.predict(rows)
    for i, row in enumerate(rows.to_dict(orient="records")):
        fetch, asked = fetching(row)
        decision = predictor.decide(fetch)
        assert decision.label == labels[i]
        assert len(set(asked)) == len(asked)
        # Oracle: the prices of the raw columns that were really asked for.
        assert decision.cost == sum(PRICES[source] for source in asked)
        assert set(decision.acquired) == {source for source in asked if PRICES[source] > 0}
        given = predictor.decide(row)
        assert (given.label, given.cost) == (simulation.label[i], simulation.cost[i])
        assert predictor.decide(pd.Series(row)).cost == given.cost
        assert asyncio.run(predictor.adecide(as_coroutine(row), concurrency=1)).label == labels[i]


def as_coroutine(row):
    async def fetch(source):
        return row[source]

    return fetch


def test_a_dialogue_of_steps(pipeline, predictor, rows):
    row = rows.iloc[5].to_dict()
    values = {}
    decision = predictor.step(values)
    while decision.next is not None:
        values[decision.next] = row[decision.next]
        decision = predictor.step(values)
    assert decision.decided
    assert decision.label == pipeline.predict(rows.iloc[[5]])[0]
    assert decision.cost == sum(PRICES[name] for name in values)


def test_an_interaction_waits_for_both_factors():
    """The product of two columns is not known before both are."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    y = (X["a"] * X["b"] > 0).astype(int)
    product = PolynomialFeatures((2, 2), interaction_only=True, include_bias=False)
    model = make_pipeline(product, RandomForestClassifier(3, max_depth=2, random_state=0)).fit(X, y)
    predictor = BudgetPredictor(
        Forest.from_model(model[-1]), [2, 3], preprocessing=Preprocessing.from_sklearn(model[:-1])
    )
    for i in range(10):
        fetch, asked = fetching(X.iloc[i])
        decision = predictor.decide(fetch)
        assert sorted(asked) == ["a", "b"]
        assert decision.label == model.predict(X.iloc[[i]])[0]


def test_shared_sources_of_raw_columns(pipeline, rows):
    costs = FeatureCosts.from_sources(
        {"form": 4, "bank": 5},
        {"age": "form", "city": "form", "plan": None, "income": "bank", "visits": ["form", "bank"]},
    )
    predictor = BudgetPredictor(
        Forest.from_model(pipeline[-1]), costs, preprocessing=Preprocessing.from_sklearn(pipeline[:-1], rows)
    )
    assert predictor.features_of("form") == ("age", "city", "visits")
    asked = []
    row = rows.iloc[3].to_dict()

    def fetch(source):
        asked.append(source)
        return {name: row[name] for name in predictor.features_of(source)}

    decision = predictor.decide(fetch)
    assert decision.label == pipeline.predict(rows.iloc[[3]])[0]
    assert decision.cost == sum({"form": 4, "bank": 5}.get(source, 0) for source in asked)


def test_free_and_unavailable_values(predictor, rows):
    row = rows.iloc[7].to_dict()
    whole = predictor.decide(row)
    free = predictor.decide(row, known={name: row[name] for name in whole.acquired})
    assert free.cost == 0.0
    fetch, _ = fetching(row)

    def failing(source):
        if source == "income":
            raise OSError("down")
        return fetch(source)

    decision = predictor.decide(failing, on_error="skip")
    assert decision.label in ("yes", "no")
    capped = predictor.simulate(rows, max_cost=3.0)
    assert capped.cost.max() <= 3.0
    assert not capped.decided.all()


def test_invalid_values(predictor, rows):
    row = rows.iloc[7].to_dict()
    for name, value, message in (
        ("age", "old", "the value of 'age' must be a number"),
        ("city", ["Ulm"], "the value of 'city' must be a category"),
        ("income", float("inf"), "the value of 'income' is an infinity"),
    ):
        with pytest.raises((AcquisitionError, InvalidInputError), match=message):
            predictor.step(row | {name: value})
    with pytest.raises(InvalidInputError, match="there is no feature 'height'"):
        predictor.step({"height": 1.8})


def test_saved_predictors_predict_the_same(predictor, rows, tmp_path):
    file = tmp_path / "model.budgetprune"
    predictor.save(file)
    for other in (BudgetPredictor.load(file), pickle.loads(pickle.dumps(predictor))):
        np.testing.assert_array_equal(other.predict_proba(rows), predictor.predict_proba(rows))
        np.testing.assert_array_equal(other.simulate(rows).acquired, predictor.simulate(rows).acquired)
        fetch, asked = fetching(rows.iloc[4])
        again, asked_before = fetching(rows.iloc[4])
        assert other.decide(fetch).cost == predictor.decide(again).cost
        assert asked == asked_before
    BudgetPredictor.load(file).save(tmp_path / "again.budgetprune")
    assert (tmp_path / "again.budgetprune").read_bytes() == file.read_bytes()


def test_steps_that_files_cannot_hold_are_named(rows, tmp_path):
    X, y = make_table(missing=False)
    model = make_pipeline(EXTERNAL["PCA"], RandomForestClassifier(3, random_state=0)).fit(X, y)
    predictor = BudgetPredictor(
        Forest.from_model(model[-1]), PRICES, preprocessing=Preprocessing.from_sklearn(model[:-1], X)
    )
    np.testing.assert_array_equal(predictor.simulate(X).label, model.predict(X))
    with pytest.raises(
        InvalidInputError,
        match=r"step 'columntransformer__pipeline__pca' \(PCA\) cannot be stored in a model file",
    ):
        predictor.save(tmp_path / "model.budgetprune")
    assert not list(tmp_path.iterdir())


def test_categories_that_the_model_itself_splits():
    """A pipeline may pass categories to a model that has splits by category."""
    X, y = make_table(300)
    X = X.astype({"city": "category", "plan": "category"})
    encoder = make_column_transformer(
        (StandardScaler(), NUMBERS), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(
        encoder, HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0)
    ).fit(X, y)
    predictor = BudgetPredictor(
        Forest.from_model(model[-1]), PRICES, preprocessing=Preprocessing.from_sklearn(model[:-1], X)
    )
    np.testing.assert_array_equal(predictor.predict(X), model.predict(X))
    np.testing.assert_array_equal(predictor.predict(X.astype({"city": object})), model.predict(X))
    assert predictor.decide(X.iloc[0].to_dict()).label == model.predict(X.iloc[[0]])[0]


def test_numbered_categories():
    X, y = make_table(300)
    encoder = make_column_transformer((OrdinalEncoder(), ["plan", "visits"]), remainder="drop")
    hist = HistGradientBoostingClassifier(max_iter=5, categorical_features=[0, 1], random_state=0)
    model = make_pipeline(encoder, hist).fit(X, y)
    predictor = BudgetPredictor(
        Forest.from_model(model[-1]), PRICES, preprocessing=Preprocessing.from_sklearn(model[:-1], X)
    )
    np.testing.assert_array_equal(predictor.predict(X), model.predict(X))
    np.testing.assert_allclose(predictor.predict_proba(X), model.predict_proba(X))


def test_missing_values_that_the_forest_cannot_route(rows):
    X, y = make_table(missing=False)
    model = make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS)),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
    ).fit(X, y)
    predictor = BudgetPredictor(
        Forest.from_model(model[-1]), PRICES, preprocessing=Preprocessing.from_sklearn(model[:-1], X)
    )
    assert predictor.forest.missing == "forbidden"
    with pytest.raises(ValueError, match="NaN"):
        model.predict(rows)
    with pytest.raises(InvalidInputError, match="that is computed from 'age'; this forest cannot route it"):
        predictor.predict(rows)
