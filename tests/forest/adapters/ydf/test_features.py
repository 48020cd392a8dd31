"""Categories of Yggdrasil: names, unknown ones, and missing ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from budgetprune import BudgetPredictor, FeatureCosts
from budgetprune.forest import Forest

from .zoo import CITIES, build, own_answers, training_rows, ydf


def test_names_of_categories():
    _, forest, _ = build("numbered categories")
    known = dict(zip(forest.names, forest.feature_categories, strict=True))
    assert known["age"] is None
    assert known["smokes"] == (False, True)
    assert known["city"][0] == forest.other_category == "<OOD>"
    assert set(known["city"][1:]) == set(CITIES)  # Ys was too rare
    assert set(known["grade"][1:]) == set(range(6))  # numbers, as in the training table


def about_missing_cities():
    """A forest that predicts whether the city is missing."""
    table = training_rows()[["age", "city"]].assign(target=lambda t: t["city"].isna())
    settings = {"allow_na_conditions": True, "missing_value_policy": "LOCAL_IMPUTATION", "num_trees": 4}
    return ydf.RandomForestLearner(label="target", **settings).train(table)


def test_unknown_categories_are_not_missing_ones():
    """Rare categories of training, unknown ones, and Yggdrasil's name for both, are the same."""
    table = training_rows()
    for name in ("forest", "one category each", "logistic", "of missing values"):
        model = about_missing_cities() if name == "of missing values" else build(name)[0]
        forest = Forest.from_model(model)
        answers = {}
        for city in ("Ys", "Atlantis", "<OOD>", "", None):
            rows = table.assign(city=city)[list(forest.names)]
            answers[city] = forest.scores(rows)
            own, _ = own_answers(model, rows.astype({"city": "str"}) if city is None else rows)
            np.testing.assert_allclose(forest.predict_proba(rows)[:, 1], own, atol=1e-6)
        assert np.array_equal(answers["Ys"], answers["Atlantis"])
        assert np.array_equal(answers["Ys"], answers["<OOD>"])
        assert np.array_equal(answers[""], answers[None])
        # Otherwise, Yggdrasil takes missing categories for unknown ones.
        assert np.array_equal(answers["Ys"], answers[None]) == (name != "of missing values")


@pytest.mark.parametrize("city", ["Ys", "Oslo", "", None])
def test_one_row_is_decided_like_many(city):
    _, forest, _ = build("forest")
    predictor = BudgetPredictor(forest, FeatureCosts(np.ones(5)))
    table = training_rows().head(20).assign(city=city)
    for i, label in enumerate(forest.predict(table)):
        row = table.iloc[i].where(table.iloc[i].notna(), None).to_dict()
        assert predictor.decide(row).label == label


def test_tables_of_polars():
    _, forest, rows = build("numbered categories")
    table = pl.from_pandas(rows)
    np.testing.assert_array_equal(forest.scores(table), forest.scores(rows))


def test_saved_forests_keep_the_other_category(tmp_path):
    _, forest, rows = build("forest")
    BudgetPredictor(forest, FeatureCosts(np.ones(5))).save(tmp_path / "m.budgetprune")
    loaded = BudgetPredictor.load(tmp_path / "m.budgetprune").forest
    assert loaded.other_category == "<OOD>"
    np.testing.assert_array_equal(loaded.predict(rows), forest.predict(rows))


def test_models_that_were_trained_from_a_file(tmp_path):
    """Yggdrasil reads the file itself, and records no types."""
    table = training_rows().assign(label=lambda t: (t["grade"] > 2).astype(int))
    table.to_csv(tmp_path / "train.csv", index=False)
    model = ydf.RandomForestLearner(
        label="label", features=[("grade", ydf.Semantic.CATEGORICAL), "age", "city"], num_trees=3
    ).train(f"csv:{tmp_path}/train.csv")
    forest = Forest.from_model(model)
    assert forest.classes.tolist() == [0, 1]
    rows = table[list(forest.names)]
    np.testing.assert_array_equal(forest.predict(rows), model.predict_class(rows).astype(int))
