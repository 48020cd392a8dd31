"""Translated preprocessing computes what scikit-learn does, and needs what scikit-learn needs."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from tests.preprocessing.tables import EXTERNAL, NUMBERS, TEXTS, TRANSLATED, make_table

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.preprocessing import Preprocessing

EVERY = TRANSLATED | EXTERNAL


class Fitted(dict):
    """Transformers, fitted on the same table when they are first used."""

    def __missing__(self, name):
        X, y = make_table()
        self[name] = clone(EVERY[name]).fit(X, y == "yes")
        return self[name]


@pytest.fixture(scope="module")
def fitted():
    return Fitted()


def dense(found):
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    return found.astype(np.float64)


def others():
    """Other rows, with values that lie outside the range of training."""
    X, _ = make_table(40, seed=1)
    X.loc[3, "age"], X.loc[4, "income"], X.loc[5, "visits"] = 150.0, 0.001, 4
    return X


@pytest.mark.parametrize("name", EVERY)
def test_features_equal_those_of_scikit_learn(fitted, name):
    transformer, X = fitted[name], others()
    found = Preprocessing.from_sklearn(transformer, make_table()[0])
    expected = dense(transformer.transform(X))
    np.testing.assert_array_equal(found.transform(X), expected)


@pytest.mark.parametrize("name", EVERY)
def test_features_depend_on_their_raw_columns_only(fitted, name):
    """Oracle: change all other columns, and let scikit-learn transform the rows."""
    transformer, X = fitted[name], others()
    found = Preprocessing.from_sklearn(transformer, make_table()[0])
    expected = dense(transformer.transform(X))
    shuffled = X.sample(frac=1, random_state=3).set_axis(X.index)
    for k, needs in enumerate(found.needs):
        changed = shuffled.copy()
        needed = [found.raw_names[r] for r in needs]
        changed[needed] = X[needed]
        np.testing.assert_array_equal(dense(transformer.transform(changed))[:, k], expected[:, k])


@pytest.mark.parametrize("name", EVERY)
def test_one_row_is_encoded_from_the_values_that_are_known(fitted, name):
    transformer, X = fitted[name], others()
    found = Preprocessing.from_sklearn(transformer, make_table()[0])
    expected = dense(transformer.transform(X))
    rng = np.random.default_rng(0)
    for i in range(6):
        known = rng.random(len(found.raw_names)) < 0.5
        row = [
            None
            if not is_known
            else np.array([None if is_text and pd.isna(value) else value], dtype=object if is_text else float)
            for value, is_known, is_text in zip(X.iloc[i], known, found.holds_objects, strict=True)
        ]
        for k, (column, needs) in enumerate(zip(found.encode(row), found.needs, strict=True)):
            assert (column is not None) == known[needs].all()
            if column is not None:
                np.testing.assert_array_equal(column.astype(float), expected[i : i + 1, k])


def test_products_need_their_factors(fitted):
    found = Preprocessing.from_sklearn(fitted["polynomial"], make_table()[0])
    names = found.feature_names
    needs = {name: [found.raw_names[k] for k in each] for name, each in zip(names, found.needs, strict=True)}
    assert needs["pipeline__age^2 income"] == ["age", "income"]
    assert needs["pipeline__income^2 visits"] == ["income", "visits"]
    assert needs["pipeline__visits^3"] == ["visits"]


def test_components_need_all_inputs(fitted):
    found = Preprocessing.from_sklearn(fitted["PCA"], make_table()[0])
    assert found.needs[:2] == [[0, 2, 4], [0, 2, 4]]
    assert found.needs[2:] == [[1]] * 6 + [[3]] * 3


def test_tables_of_polars_and_arrays(fitted):
    X = others()
    found = Preprocessing.from_sklearn(fitted["one-hot"], make_table()[0])
    expected = dense(fitted["one-hot"].transform(X))
    table = pl.DataFrame({name: [None if pd.isna(v) else v for v in X[name]] for name in X})
    np.testing.assert_array_equal(found.transform(table), expected)
    np.testing.assert_array_equal(found.transform(X[X.columns[::-1]].assign(more=1)), expected)
    np.testing.assert_array_equal(found.transform(X.astype({"city": "category", "plan": "string"})), expected)
    np.testing.assert_array_equal(found.transform(X.to_numpy()), expected)
    with pytest.raises(InvalidInputError, match="X lacks the columns 'plan', which"):
        found.transform(X.drop(columns="plan"))
    with pytest.raises(InvalidInputError, match="column 'income' of X must hold numbers"):
        found.transform(X.astype({"income": str}))
    with pytest.raises(InvalidInputError, match="must be a table of 5 columns"):
        found.transform(X.to_numpy()[:, :4])


def test_categories_without_handling_of_unknown_ones():
    X, _ = make_table(missing=False)
    transformer = make_column_transformer((OneHotEncoder(), ["city"]), (OrdinalEncoder(), ["plan"])).fit(X)
    found = Preprocessing.from_sklearn(transformer, X)
    for name in ("city", "plan"):
        for value, shown in (("Rome", "'Rome'"), (None, "a missing value")):
            changed = X[:3].copy()
            changed.loc[1, name] = value
            with pytest.raises(ValueError, match="unknown categories"):
                transformer.transform(changed)
            with pytest.raises(
                InvalidInputError, match=f"column '{name}' .* holds {shown}, which was no category"
            ):
                found.transform(changed)


class Custom(TransformerMixin, BaseEstimator):
    """The sum of the columns, and the first one."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        X = np.asarray(X)
        return np.column_stack([X.sum(axis=1), X[:, 0]])

    def __sklearn_is_fitted__(self):
        return True


def custom():
    X, _ = make_table(missing=False)
    inner = ColumnTransformer(
        [("sums", make_pipeline(StandardScaler(), Custom()), NUMBERS), ("text", OneHotEncoder(), TEXTS)]
    )
    return inner.fit(X), X


def test_a_step_that_cannot_be_traced_is_named():
    transformer, X = custom()
    advice = re.escape("needs={'sums__custom': 'all'}")
    with pytest.raises(
        InvalidInputError, match=rf"step 'sums__custom' \(Custom\) cannot be traced: .*{advice}"
    ):
        Preprocessing.from_sklearn(transformer, X)
    function = make_pipeline(FunctionTransformer(lambda x: x[::-1])).fit(X)
    with pytest.raises(
        InvalidInputError, match=r"step 'functiontransformer' .*feature_names_out='one-to-one'"
    ):
        Preprocessing.from_sklearn(function, X)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("all", [[0, 2, 4], [0, 2, 4]]),
        ([["age", "income", "visits"], "age"], [[0, 2, 4], [0]]),
        ([[0, 1, 2], 0], [[0, 2, 4], [0]]),
    ],
)
def test_needs_of_a_step_can_be_given(said, expected):
    transformer, X = custom()
    found = Preprocessing.from_sklearn(transformer, X, needs={"sums__custom": said})
    assert found.needs[:2] == expected
    np.testing.assert_array_equal(found.transform(X), dense(transformer.transform(X)))
    row = [None] * 5
    row[0] = np.array([50.0])
    features = found.encode(row)
    assert (features[1] is None) == (expected[1] != [0])


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"sums__custom": "some"}, "must be 'all', 'one-to-one' or a list"),
        ({"sums__custom": "one-to-one"}, "has 3 inputs, but 2 outputs"),
        ({"sums__custom": ["age"]}, "lists 1 outputs of step 'sums__custom', but it has 2"),
        ({"sums__custom": ["age", "city"]}, "names 'city' for step 'sums__custom', but its inputs are 'age'"),
        ({"sums__custom": ["age", []]}, "lists no input for an output"),
        ({"sums__custom": "all", "other": "all"}, "that the pipeline does not have: 'other'"),
    ],
)
def test_invalid_needs(needs, message):
    transformer, X = custom()
    with pytest.raises(InvalidInputError, match=message):
        Preprocessing.from_sklearn(transformer, X, needs=needs)


def test_two_kinds_of_missing_categories():
    X = np.array([["a"], [None], [np.nan]], dtype=object)
    with pytest.raises(UnsupportedModelError, match="both None and NaN"):
        Preprocessing.from_sklearn(OneHotEncoder().fit(X))


def test_a_step_that_needs_rows_for_unknown_inputs():
    X, _ = make_table(missing=False)
    transformer = EXTERNAL["powers"].fit(X)
    with pytest.raises(InvalidInputError, match="needs one row of values"):
        Preprocessing.from_sklearn(transformer)
