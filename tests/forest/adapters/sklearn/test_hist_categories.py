"""Histogram-based gradient boosting with categories: numbers, names, unknown and missing ones."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest

N = 400
SETTINGS = {"max_iter": 6, "min_samples_leaf": 3, "random_state": 0}
NAMES = np.array(["ash", "birch", "elm", "fir", "oak", "yew"], dtype=object)


def draw(seed, n=N, n_codes=5):
    """A number, a number that is a name, a number, and a number that is a category: columns of a table."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, n_codes, n)
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "tree": NAMES[rng.integers(0, 5, n)],
        "z": rng.normal(size=n),
        "code": code,
    }


def targets(columns, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(columns["z"]))
    effect = np.isin(columns["tree"], ["birch", "oak"]) * 2.0 + columns["code"] % 3
    return np.nan_to_num(columns["x"]) + effect + 0.3 * noise


def with_gaps(column, seed, share=0.15):
    return np.where(np.random.default_rng(seed).random(len(column)) < share, None, column)


def as_table(columns, missing=True):
    tree = with_gaps(columns["tree"], 2) if missing else columns["tree"]
    return pd.DataFrame({**columns, "tree": pd.Categorical(tree, categories=NAMES.tolist())})


def strange_table():
    """Names that were never seen (yew, pine), codes that were not, gaps where there were none."""
    columns = draw(7, 600)
    tree = with_gaps(np.append(NAMES, "pine")[np.random.default_rng(8).integers(0, 7, 600)], 9)
    code = np.random.default_rng(10).choice([0.0, 3, 4, 6, 12, 40, 41, 999, 5000, 1.5, -1, np.nan], 600)
    return pd.DataFrame({**columns, "tree": pd.Categorical(tree), "code": code})


def agree(forest, model, rows):
    assert np.array_equal(forest.predict(rows), model.predict(rows))


@pytest.fixture(params=[True, False], ids=["gaps in training", "no gaps"])
def on_table(request):
    columns = draw(0)
    columns["code"] = np.array([3, 4, 12, 40, 41])[columns["code"]]
    X = as_table(columns, missing=request.param)
    y = np.digitize(targets(columns), [1.0, 2.5])
    model = HistGradientBoostingClassifier(categorical_features=["tree", "code"], **SETTINGS).fit(X, y)
    return Forest.from_model(model), model, X


@pytest.fixture(params=[True, False], ids=["gaps in training", "no gaps"])
def on_array(request):
    """Categories are numbers with gaps between them, and more than fit into one word of bits."""
    columns = draw(0, n_codes=25)
    code = columns["code"] * 3.0 + 2
    code[::5] = np.nan if request.param else 5
    X = np.column_stack([columns["x"], code, columns["z"]])
    model = HistGradientBoostingRegressor(categorical_features=[1], **SETTINGS).fit(X, targets(columns))
    return Forest.from_model(model), model, X


def test_rows_of_a_table(on_table):
    forest, model, X = on_table
    assert (forest.category_set >= 0).any()
    agree(forest, model, X)
    agree(forest, model, strange_table())
    assert np.array_equal(forest.scores(strange_table()), model.decision_function(strange_table()))


def test_features_are_columns_of_the_table(on_table):
    forest = on_table[0]
    assert set(forest.feature[forest.category_set >= 0]) == {1, 3}
    assert forest.feature_names == ("x", "tree", "z", "code")
    by_threshold = forest.is_split & (forest.category_set < 0)
    assert set(forest.feature[by_threshold]) == {0, 2}
    assert forest.categories[1] == ("ash", "birch", "elm", "fir", "oak")
    assert forest.categories[0] is None


def test_rows_of_an_array(on_array):
    forest, model, X = on_array
    assert (forest.category_set >= 0).any()
    agree(forest, model, X)
    rows = np.random.default_rng(3).normal(size=(1000, 3))
    rows[:, 1] = np.random.default_rng(4).integers(-3, 400, 1000)  # known and unknown ones
    rows[::9, 1] = np.nan
    agree(forest, model, rows)
    agree(forest, model, pd.DataFrame(rows).to_numpy())


def test_a_single_category_beside_missing_values():
    """scikit-learn looks such a split's set up in another one's place; so must we."""
    columns = draw(0)
    lone = np.where(np.random.default_rng(5).random(N) < 0.5, np.nan, 0.0)
    X = np.column_stack([lone, columns["code"], columns["z"]])
    y = np.isnan(lone) * 3.0 + targets(columns)
    model = HistGradientBoostingRegressor(categorical_features=[0, 1], **SETTINGS).fit(X, y)
    forest = Forest.from_model(model)
    assert (forest.feature[forest.category_set >= 0] == 0).any()
    rows = np.column_stack([np.tile([0.0, np.nan, 1.0], 20), np.arange(60) % 7, np.zeros(60)])
    agree(forest, model, rows)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(NAMES.tolist())], ids=str)
def test_polars_tables_whose_gaps_count_as_a_category(dtype):
    """scikit-learn takes a null for one more category there, and an unknown category for a missing value."""

    def table(columns, tree):
        return pl.DataFrame({**columns, "tree": pl.Series(tree.tolist(), dtype=dtype)})

    columns = draw(0)
    X = table(columns, with_gaps(columns["tree"], 2))
    model = HistGradientBoostingRegressor(**SETTINGS).fit(X, targets(columns))
    forest = Forest.from_model(model)
    assert forest.categories[1][-1] is None
    agree(forest, model, X)
    rows = draw(7)
    agree(forest, model, table(rows, with_gaps(NAMES[np.random.default_rng(8).integers(0, 6, N)], 9)))


def test_there_and_back(on_table, on_array, prune_randomly):
    for forest, model, rows in (on_table, on_array):
        rows = strange_table() if isinstance(rows, pd.DataFrame) else np.vstack([rows, rows + 1])
        before = pickle.dumps(model)
        for probability in (1.0, 0.8):
            pruned = forest.prune(prune_randomly(forest, 0, probability))
            value = pruned.value + np.random.default_rng(0).normal(size=pruned.value.shape)
            refitted = replace(pruned, value=value)
            agree(refitted, pickle.loads(pickle.dumps(refitted.to_sklearn())), rows)
            again = Forest.from_model(pruned.to_sklearn())
            for name in ("left", "right", "feature", "missing_left", "category_bits"):
                if name != "category_bits" or probability == 1.0:  # sets that no split needs are left out
                    assert np.array_equal(getattr(again, name), getattr(pruned, name)), name
            agree(again, pruned, rows)
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("code", [-1.0, 0.5, 1e6])
def test_numbers_that_cannot_stand_for_themselves_are_refused_in_arrays(code):
    columns = draw(0)
    X = np.column_stack([columns["x"], np.where(columns["code"] == 1, code, columns["code"])])
    model = HistGradientBoostingRegressor(categorical_features=[1], **SETTINGS).fit(X, columns["z"])
    with pytest.raises(UnsupportedModelError, match=r"column 1 of the array .* number them from 0"):
        Forest.from_model(model)
    table = pd.DataFrame(X, columns=["x", "code"])
    model = HistGradientBoostingRegressor(categorical_features=["code"], **SETTINGS).fit(table, columns["z"])
    agree(Forest.from_model(model), model, table + 1)


def test_onnx_has_no_splits_by_category(on_array):
    with pytest.raises(UnsupportedModelError, match="one-hot"):
        on_array[0].to_onnx()
