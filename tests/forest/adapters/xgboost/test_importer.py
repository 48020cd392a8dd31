"""XGBoost's models as forests: the same scores and labels, and what inner nodes answer and splits gain."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse

from budgetprune.forest import Forest

from .zoo import (
    CATEGORICAL,
    SMALL,
    ZOO,
    amounts,
    as_matrix,
    build,
    margins,
    training_rows,
)

every_model = pytest.mark.parametrize("name", ZOO)


@every_model
def test_scores_are_the_librarys(name: str) -> None:
    case = build(name)
    own = margins(case.model, case.rows)
    np.testing.assert_allclose(case.forest.scores(case.rows), own, rtol=0, atol=1e-6 * np.abs(own).max())


@every_model
def test_answers_are_the_librarys(name: str) -> None:
    case = build(name)
    model, forest, rows = case.model, case.forest, case.rows
    if isinstance(model, xgb.Booster):
        own = model.predict(as_matrix(model, rows))
        if name == "raw scores":
            own = 1 / (1 + np.exp(-own))
        answer = forest.predict_proba(rows) if forest.is_classifier else forest.predict(rows)
        answer = answer[:, 1] if forest.link == "logistic" else answer
        np.testing.assert_allclose(answer, own, rtol=2e-6, atol=1e-6)
    elif forest.is_classifier:
        np.testing.assert_allclose(forest.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-6)
        scores = np.sort(margins(model, rows), axis=1)
        is_clear = np.abs(scores[:, -1] - (0 if scores.shape[1] == 1 else scores[:, -2])) > 1e-5
        assert is_clear.mean() > 0.9
        np.testing.assert_array_equal(forest.predict(rows)[is_clear], model.predict(rows)[is_clear])
        assert np.unique(forest.predict(rows)).size == forest.classes.size or "single" in name
    else:
        np.testing.assert_allclose(forest.predict(rows), model.predict(rows), rtol=2e-6, atol=1e-6)


@every_model
def test_rounds_and_outputs(name: str) -> None:
    case = build(name)
    forest = case.forest
    n_parallel = max(1, forest.n_trees // forest.n_outputs // (forest.tree_round[-1] + 1))
    if "forest" in name:
        assert forest.tree_round[-1] == 0
    np.testing.assert_array_equal(
        forest.tree_round, np.arange(forest.n_trees) // (forest.n_outputs * n_parallel)
    )
    np.testing.assert_array_equal(
        forest.tree_output, np.arange(forest.n_trees) // n_parallel % forest.n_outputs
    )
    assert forest.is_boosted
    assert forest.missing == "nan"


def test_trees_that_xgboost_pruned_itself_lose_their_dead_nodes() -> None:
    case = build("logistic, exact, pruned")
    trees = json.loads(bytes(case.booster.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
    n_dead = sum(int(tree["tree_param"]["num_deleted"]) for tree in trees)
    assert n_dead > 0
    assert case.forest.n_nodes == sum(len(tree["parents"]) for tree in trees) - n_dead


@pytest.mark.parametrize("threshold", [np.inf, 3.4028235e38, 0.0, -0.0, 1e-45, 1.1754944e-38, -3.4028235e38])
def test_extreme_thresholds(threshold: float) -> None:
    document = json.loads(bytes(build("logistic").booster.save_raw("json")))
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        tree["split_conditions"][0] = threshold
        tree["split_indices"][0] = 2
    booster = xgb.Booster()
    booster.load_model(bytearray(json.dumps(document), "utf-8"))
    rows = np.tile(training_rows()[:1], (16, 1))
    x = np.float32(np.clip(threshold, -3.4028235e38, 3.4028235e38))
    steps = [
        np.nextafter(x, np.float32(-1)),
        x,
        np.nextafter(x, np.float32(1)),
        np.nan,
        0.0,
        -0.0,
        1e-46,
        -1e-45,
    ]
    rows[:, 2] = steps * 2
    rows[8:, 3] += 2
    np.testing.assert_allclose(
        Forest.from_model(booster).scores(rows), margins(booster, rows), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("name", ["logistic, categories", "softmax, categories", "squared, categories"])
def test_splits_by_category_are_met(name: str) -> None:
    """So that the zoo's odd categories test something: known and unknown ones go both ways."""
    forest = build(name).forest
    by_category = forest.category_set >= 0
    assert set(forest.feature[by_category]) <= set(CATEGORICAL)
    assert by_category.sum() > 5
    assert np.isnan(forest.threshold[by_category]).all()
    assert (
        forest.missing_left[by_category].any() != forest.missing_left[by_category].all()
        or "missing" not in name
    )
    assert forest.categories is None


def test_names_of_features_and_categories() -> None:
    X = training_rows()
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["e"] = pd.Categorical.from_codes(X[:, 4].astype(int), [f"city {c}" for c in range(70)])
    table["f"] = pd.Categorical.from_codes(X[:, 5].astype(int), [30, 10, 20, -5])
    model = xgb.XGBRegressor(**SMALL, enable_categorical=True).fit(table, amounts(X))
    forest = Forest.from_model(model)
    assert forest.feature_names == tuple("abcdef")
    if model.get_booster().get_categories().empty() if hasattr(xgb.Booster, "get_categories") else True:
        pytest.skip("this version of XGBoost does not keep categories")
    assert forest.categories == (None,) * 4 + (tuple(table["e"].cat.categories), (30, 10, 20, -5))
    np.testing.assert_allclose(forest.scores(X), margins(model, table), rtol=0, atol=1e-6)


def test_torn_names_of_categories_are_left_out() -> None:
    X = training_rows()[:, [2, 5]]
    table = pd.DataFrame(
        {"a": X[:, 0], "b": pd.Categorical.from_codes(X[:, 1].astype(int), ["é", "a", "b", "c"])}
    )
    forest = Forest.from_model(xgb.XGBRegressor(**SMALL, enable_categorical=True).fit(table, X[:, 1]))
    assert forest.categories is None


def test_pickled_forests_answer_alike() -> None:
    case = build("softmax, categories")
    copy = pickle.loads(pickle.dumps(case.forest))
    np.testing.assert_array_equal(copy.scores(case.rows), case.forest.scores(case.rows))


def test_xgboost_is_optional() -> None:
    program = "import sys; sys.modules['xgboost'] = None; import budgetprune.forest"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_what_a_sparse_matrix_does_not_store_is_missing(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.5)
    model = xgb.XGBRegressor(n_estimators=5).fit(make(X), X @ np.arange(5) + (X == 0) @ np.ones(5))
    forest = Forest.from_model(model)
    rows = make(X)
    rows.data[:20] = 0.0  # stored zeros are zeros
    assert np.allclose(forest.predict(rows), model.predict(rows), atol=1e-5)
    assert not np.allclose(forest.predict(rows), forest.predict(rows.toarray()), atol=1e-2)
