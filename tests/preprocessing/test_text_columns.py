"""Text columns of tables are categories in all estimators."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from tests.preprocessing.tables import TEXTS, make_table
from tests.preprocessing.test_raw_rows import PRICES, fetching

from budgetprune import (
    BudgetClassifier,
    BudgetPredictor,
    BudgetPruneClassifier,
    BudgetPruneRegressor,
    InvalidInputError,
)

STAGED = {"budget": 4.0, "random_state": 0, "learner": "lightgbm", "cv": 3, "time_limit": None, "n_jobs": 1}


@pytest.fixture(scope="module")
def rows():
    X, _ = make_table(40, seed=6)
    X.loc[0, "city"] = "Rome"
    return X


def kinds_of(X):
    """The same table with other types of text."""
    return {
        "category": X.astype(dict.fromkeys(TEXTS, "category")),
        "str": X.astype(dict.fromkeys(TEXTS, "str")),
        "string": X.astype(dict.fromkeys(TEXTS, "string")),
        "polars": pl.from_pandas(X),
    }


def test_staged_models_take_text_of_any_type(rows):
    X, y = make_table(300)
    fitted = BudgetClassifier(PRICES, **STAGED).fit(X, y)
    for name, table in kinds_of(X).items():
        other = BudgetClassifier(PRICES, **STAGED).fit(table, y)
        for given in (rows, kinds_of(rows)[name]):
            np.testing.assert_array_equal(other.predict_proba(given), fitted.predict_proba(rows))
    assert fitted.predictor().decide(rows.iloc[0].to_dict()).label == fitted.predict(rows)[0]


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(RandomForestClassifier(6, max_depth=5, random_state=0), id="forest"),
        pytest.param(HistGradientBoostingClassifier(max_iter=6, random_state=0), id="hist"),
    ],
)
def test_pruned_models_take_text_of_any_type(model, rows, tmp_path):
    X, y = make_table(300)
    settings = {"costs": PRICES, "budget": 6, "random_state": 0}
    fitted = BudgetPruneClassifier(model, **settings).fit(X, y)
    assert fitted.score(X, y) > 0.6
    assert fitted.source_names_ == tuple(PRICES)
    for name, table in kinds_of(X).items():
        other = BudgetPruneClassifier(model, **settings).fit(table, y)
        # How missing values are spelled has an influence on how the rows are divided.
        same = fitted if name in ("category", "str") else other
        for given in (rows, *kinds_of(rows).values()):
            np.testing.assert_array_equal(other.predict(given), same.predict(rows), err_msg=name)
            np.testing.assert_allclose(other.acquisition_cost(given), same.acquisition_cost(rows))
        assert other.score(X, y) > 0.6
    fitted.predictor().save(tmp_path / "m")
    loaded = BudgetPredictor.load(tmp_path / "m")
    for predictor in (fitted.predictor(), loaded):
        np.testing.assert_array_equal(predictor.predict(rows), fitted.predict(rows))
        fetch, asked = fetching(rows.iloc[0])
        assert predictor.decide(fetch).cost == sum(PRICES[source] for source in asked)


def test_forests_get_numbers_in_the_order_of_the_mean_target(rows):
    """Oracle: the whole pipeline, and the order by hand."""
    X, _ = make_table(400)
    target = X["income"] + X["city"].map({"Ulm": 300.0, "Bonn": -200.0}).fillna(0)
    model = BudgetPruneRegressor(RandomForestRegressor(5, random_state=0), costs=PRICES, random_state=0)
    model.fit(X, target)
    numbers = model.estimator_[0]
    order = [label for label in numbers.labels_[1] if label in ("Ulm", "Bonn", "Trier")]
    assert order == ["Bonn", "Trier", "Ulm"]
    encoded = numbers.transform(rows)
    assert np.isnan(encoded[0, 1])  # unknown
    assert encoded[:, 1][rows["city"] == "Ulm"].min() == len(numbers.labels_[1]) - 1
    whole = BudgetPredictor(model.path_.forest, PRICES, preprocessing=model.predictor().preprocessing)
    np.testing.assert_allclose(whole.predict(rows), model.estimator_.predict(rows))


def test_lightgbm_splits_by_category(rows):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = make_table(300)
    model = lightgbm.LGBMClassifier(n_estimators=6, verbose=-1, n_jobs=1, min_cat_smooth=1)
    fitted = BudgetPruneClassifier(model, costs=PRICES, budget=8, random_state=0).fit(X, y)
    assert fitted.predictor().preprocessing is None
    assert fitted.forest_.categories is not None
    assert fitted.predictor().decide(rows.iloc[1].to_dict()).label == fitted.predict(rows)[1]


def test_validation_rows_may_hold_other_texts():
    X, y = make_table(300)
    other, labels = make_table(100, seed=9)
    other.loc[:5, "city"] = "Rome"
    model = BudgetPruneClassifier(RandomForestClassifier(4, random_state=0), costs=PRICES, random_state=0)
    assert model.fit(X, y, X_val=other, y_val=labels).predict(other).shape == (100,)


@pytest.mark.parametrize("estimator", [BudgetClassifier, BudgetPruneClassifier])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", 1.5], r"column 'x' of X holds text, but also 1.5 \(20 of 40 values"),
        (["1.5", "2"], "column 'x' of X seems to hold numbers as text"),
    ],
)
def test_odd_text(estimator, values, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator().fit(pd.DataFrame({"x": values * 20, "z": 1.0}), [0, 1] * 20)
