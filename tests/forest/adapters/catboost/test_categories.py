"""Categories of CatBoost, of which it keeps hashes: numbers, names, and splits."""

from __future__ import annotations

import warnings

import catboost as cb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPruneClassifier, BudgetWarning, InvalidInputError, prune_model
from budgetprune.forest import Forest
from budgetprune.forest.adapters.catboost.categories import category_hash, category_names, category_numbers

from .zoo import SMALL, raw_scores, table_of_categories

COLUMNS = ["text", "number"]


def fit(grow_policy: str = "SymmetricTree"):
    table, y = table_of_categories()
    settings = SMALL | {"iterations": 12, "one_hot_max_size": 100, "grow_policy": grow_policy}
    return cb.CatBoostClassifier(**settings).fit(table, y, cat_features=COLUMNS)


@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_splits_by_category(grow_policy):
    table, _ = table_of_categories()
    model = fit(grow_policy)
    forest = Forest.from_model(model).with_categories_of(table)
    by_category = forest.category_set >= 0
    assert set(forest.feature[by_category]) == {1, 2}
    rows = pd.concat([table] * 3, ignore_index=True)
    rows.loc[::5, "text"] = "unknown"
    rows.loc[::7, "number"] = 10_000
    rows.loc[::3, "x"] = np.nan
    own = raw_scores(model, rows)
    np.testing.assert_allclose(forest.scores(rows), own, rtol=0, atol=1e-14)
    np.testing.assert_allclose(forest.scores(pl.from_pandas(rows)), own, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(forest.predict(rows), model.predict(rows))


def test_a_missing_category_is_equal_to_none():
    table, _ = table_of_categories()
    forest = Forest.from_model(fit()).with_categories_of(table)
    rows, unknown = table.copy(), table.assign(text="unknown")
    rows["text"] = None
    np.testing.assert_array_equal(forest.scores(rows), forest.scores(unknown))


def test_names_of_categories():
    table, _ = table_of_categories()
    model = fit()
    forest = Forest.from_model(model)
    assert forest.feature_names == ("x", "text", "number", "u")
    # Whole numbers are recognised by their hashes; texts are not.
    assert forest.categories[:2] == (None, None)
    assert forest.categories[2] == tuple(range(len(forest.categories[2])))
    with pytest.raises(InvalidInputError, match="must hold numbers only"):
        forest.scores(table)
    named = forest.with_categories_of(table.to_numpy(), table)
    assert set(named.categories[1]) == set(table["text"])
    assert named.categories[2] == tuple(range(70))
    np.testing.assert_array_equal(named.category_bits, forest.category_bits)
    assert forest.with_categories_of(table.to_numpy()) is forest
    # Polars, and numbers that are written as texts.
    for other in (pl.from_pandas(table), table.astype({"number": str})):
        again = forest.with_categories_of(other)
        assert sorted(again.categories[1]) == sorted(named.categories[1])
        np.testing.assert_allclose(again.scores(other), raw_scores(model, table), rtol=0, atol=1e-14)


def test_categories_that_no_split_tests_are_known():
    table, _ = table_of_categories()
    table.loc[0, ["text", "number"]] = ["seldom", 300]
    forest = Forest.from_model(fit()).with_categories_of(table)
    assert forest.categories[1][-1] == "seldom"
    assert forest.categories[2] == tuple(range(301))
    model = fit()
    np.testing.assert_allclose(forest.scores(table), raw_scores(model, table), rtol=0, atol=1e-14)


def test_names_may_come_from_several_tables():
    table, _ = table_of_categories()
    forest = Forest.from_model(fit())
    parts = [table[table["text"] == text] for text in table["text"].unique()]
    expected = forest.with_categories_of(table)
    assert sorted(forest.with_categories_of(*parts).categories[1]) == sorted(expected.categories[1])
    with pytest.warns(BudgetWarning, match=r"4 of the 5 categories of 'text' .* do not occur"):
        some = forest.with_categories_of(parts[0])
    np.testing.assert_array_equal(some.scores(parts[0]), expected.scores(parts[0]))


def test_missing_values_turn_whole_numbers_into_floats():
    table, _ = table_of_categories()
    model = fit()
    forest = Forest.from_model(model).with_categories_of(table)
    rows = table.astype({"number": float})
    np.testing.assert_array_equal(forest.scores(rows), forest.scores(table))
    rows.loc[0, "number"] = np.nan
    assert np.isfinite(forest.scores(rows)).all()


def test_estimators_name_categories():
    table, y = table_of_categories()
    model = fit()
    ours = BudgetPruneClassifier(FrozenEstimator(model), budget=3.5, random_state=0).fit(table, y)
    assert set(ours.forest_.categories[1]) == set(table["text"])
    assert ours.score(table, y) > 0.7
    decision = ours.predictor().decide(lambda source: table.iloc[0][source])
    assert decision.label in (0, 1)


def test_prune_names_categories(tmp_path):
    table, y = table_of_categories()
    model = fit()
    model.save_model(str(tmp_path / "model.cbm"))
    table.assign(ill=y).to_csv(tmp_path / "rows.csv", index=False)
    from_file = prune_model(tmp_path / "model.cbm", tmp_path / "rows.csv", "ill", budget=3.5)
    from_table = prune_model(model, table.assign(ill=y), "ill", budget=3.5)
    for pruned in (from_file, from_table):
        pruned.save(tmp_path / "pruned")
        assert set(pruned.predictor.forest.categories[1]) == set(table["text"])
        assert pruned.about.compared.chosen.score > 0.7
    rows = table.astype({"number": str})
    np.testing.assert_array_equal(from_file.predictor.predict(rows), from_table.predictor.predict(table))


def test_hashes():
    """Of CatBoost 1.2.10, for every branch of the hash: see the table of hashes that it writes for C++."""
    assert category_hash("w") == -1196738607
    assert category_hash("yy") == -1440182944
    assert category_hash("a longer name than sixteen") == 2020269892
    assert category_hash(12) == category_hash("12") == category_hash(12.0) == 1445320840
    assert category_hash(1.5) is None
    assert category_hash(None) is None


@pytest.mark.parametrize("length", [0, 1, 3, 4, 8, 9, 16, 17, 32, 33, 50, 64, 65, 128, 129, 200])
def test_hashes_of_all_lengths(length):
    """A model on two texts splits by one of them; the other one has another hash."""
    texts = ["".join(chr(97 + (i * 7 + shift) % 26) for i in range(length)) for shift in (0, 5)]
    texts = texts if length else ["", "x"]
    table = pd.DataFrame({"text": texts * 50})
    model = cb.CatBoostRegressor(**SMALL | {"one_hot_max_size": 5}).fit(
        table, np.tile([0.0, 1.0], 50), cat_features=["text"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = Forest.from_model(model).with_categories_of(table)
    assert set(forest.categories[0]) <= set(texts)
    np.testing.assert_allclose(forest.scores(table), raw_scores(model, table), rtol=0, atol=1e-14)


def test_numbers():
    hashes = [category_hash(number) for number in (7, 0, 40)]
    assert category_numbers(hashes) == dict(zip(hashes, (7, 0, 40), strict=True))
    assert category_names(hashes) == tuple(range(41))
    hashes.append(category_hash("x"))
    assert category_numbers(hashes) == {hashed: i for i, hashed in enumerate(hashes)}
    assert category_names(hashes) is None
    assert category_names([]) == ()
