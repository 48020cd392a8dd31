"""XGBoost's models as forests: the same scores and labels, and what inner nodes answer and splits gain."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest
from budgetprune.losses import find_loss

from .xgboost_zoo import (
    CATEGORICAL,
    CLEAN,
    N_ROWS,
    SMALL,
    WEIGHT,
    ZOO,
    Trained,
    amounts,
    as_matrix,
    booster_of,
    build,
    margins,
    three_classes,
    training_rows,
    two_classes,
)

every_model = pytest.mark.parametrize("name", ZOO)
clean_models = pytest.mark.parametrize("name", CLEAN)


def reloaded(model: Any) -> xgb.Booster:
    """The same model from a file: it no longer knows how it was trained."""
    booster = xgb.Booster()
    booster.load_model(bytearray(booster_of(model).save_raw("json")))
    return booster


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


# --- What inner nodes answer, and what splits gain ----------------------------------------------------------


def newton_sums(case: Trained, excess: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the rows at each node, and curvatures (times `excess`), at the score before its round."""
    forest, leaves = case.forest, case.forest.apply(case.X)
    end = np.arange(1, forest.n_nodes + 1)
    for h in np.flatnonzero(forest.is_split)[::-1]:
        end[h] = end[forest.right[h]]
    G, H = np.zeros((2, forest.n_nodes))
    score = np.tile(forest.base, (len(case.X), 1))
    for r in range(forest.tree_round[-1] + 1):
        gradient, curvature = find_loss(forest.loss).derivatives(score, case.y)
        for t in np.flatnonzero(forest.tree_round == r):
            k, nodes = forest.tree_output[t], np.arange(forest.tree_start[t], forest.tree_start[t + 1])
            reaches = (leaves[:, [t]] >= nodes) & (leaves[:, [t]] < end[nodes])
            G[nodes] = (case.weight * gradient[:, k]) @ reaches
            H[nodes] = (case.weight * curvature[:, k]) @ reaches * excess
        for t in np.flatnonzero(forest.tree_round == r):
            score[:, forest.tree_output[t]] += forest.value[leaves[:, t], 0]
    return G, H


def excess_curvature(case: Trained) -> float:
    return {"softmax": 2.0, "poisson": np.exp(2.0)}.get(case.forest.loss, 1.0)


@clean_models
def test_inner_nodes_answer_with_shrunken_newton_steps(name: str) -> None:
    case = build(name)
    config = json.loads(case.booster.save_config())["learner"]["gradient_booster"]
    settings = config["tree_train_param"]
    G, H = newton_sums(case, excess_curvature(case))
    eta = float(settings["eta"]) / int(config["gbtree_model_param"]["num_parallel_tree"])
    best = -eta * G / (H + float(settings["lambda"]))
    np.testing.assert_allclose(case.forest.value[:, 0], best, rtol=1e-4, atol=2e-6)
    assert case.forest.is_split.any()


@clean_models
def test_gains_are_those_of_the_rows(name: str) -> None:
    case = build(name)
    forest, v = case.forest, case.forest.value[:, 0]
    G, H = newton_sums(case, 1.0)
    loss = G * v + H * v**2 / 2
    split = np.flatnonzero(forest.is_split)
    gain = np.zeros(forest.n_nodes)
    gain[split] = loss[split] - loss[forest.left[split]] - loss[forest.right[split]]
    gain /= case.weight.sum()
    np.testing.assert_allclose(forest.split_gain, gain, rtol=1e-3, atol=1e-4 * gain.max())
    assert gain.max() > 0


@clean_models
def test_a_file_tells_as_much_as_a_trained_model(name: str) -> None:
    """Learning rate and penalty are not in files."""
    case = build(name)
    forest = Forest.from_model(reloaded(case.model))
    np.testing.assert_allclose(forest.value, case.forest.value, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(forest.split_gain, case.forest.split_gain, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "logistic, capped steps",
        "logistic, capped stumps",
        "logistic, constrained",
        "poisson, capped steps",
        "absolute",
        "quantile",
    ],
)
def test_inner_nodes_answer_with_the_mean_of_their_leaves_where_nothing_better_is_known(name: str) -> None:
    forest = build(name).forest
    split = np.flatnonzero(forest.is_split & (forest.tree_of_node == 0))  # later ones may be unconstrained
    total, weight = forest.value[:, 0] * forest.weight, forest.weight.copy()
    for h in split[::-1]:
        children = [forest.left[h], forest.right[h]]
        total[h], weight[h] = total[children].sum(), weight[children].sum()
    np.testing.assert_allclose(forest.value[split, 0], total[split] / weight[split], rtol=1e-5, atol=1e-8)
    assert forest.split_gain is None


def test_sparse_leaves_keep_shrunken_optima_but_no_gains() -> None:
    case = build("logistic, sparse leaves")
    G, H = newton_sums(case, 1.0)
    best = -0.3 * np.sign(G) * np.maximum(0, np.abs(G) - 1.0) / (H + 1.0)
    np.testing.assert_allclose(case.forest.value[:, 0], best, rtol=1e-4, atol=2e-6)
    assert case.forest.split_gain is None


def test_learning_rate_may_change_between_rounds() -> None:
    X, y = training_rows(), two_classes(training_rows())
    rates, booster = [0.5, 0.1, 0.3], None
    for rate in rates:
        settings = {"objective": "binary:logistic", "max_depth": 3, "eta": rate}
        booster = xgb.train(settings, xgb.DMatrix(X, y), 1, xgb_model=booster)
    forest = Forest.from_model(booster)
    case = Trained(booster, X, y, np.ones(N_ROWS), forest, X)
    G, H = newton_sums(case, 1.0)
    best = -np.asarray(rates)[forest.tree_of_node] * G / (H + 1.0)
    np.testing.assert_allclose(forest.value[:, 0], best, rtol=1e-4, atol=2e-6)


def test_weight_is_that_of_the_rows_for_squared_errors() -> None:
    case = build("squared, weights")
    np.testing.assert_allclose(case.forest.weight[case.forest.tree_start[:-1]], WEIGHT.sum())


def test_positive_rows_can_weigh_more() -> None:
    X, y = training_rows(), two_classes(training_rows())
    settings = {**SMALL, "tree_method": "exact", "base_score": 0.6}
    model = xgb.XGBClassifier(**settings, scale_pos_weight=3.0).fit(X, y)
    same = xgb.XGBClassifier(**settings).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(
        Forest.from_model(model).split_gain, Forest.from_model(same).split_gain, rtol=1e-5, atol=1e-9
    )


def test_own_objective_has_no_loss_that_we_know() -> None:
    def half_squared(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return score - y, np.ones_like(y)

    X = training_rows()
    model = xgb.XGBRegressor(**SMALL, objective=half_squared).fit(X, amounts(X))
    forest = Forest.from_model(model)
    assert forest.loss is None
    assert forest.split_gain is None
    np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=1e-6, atol=1e-6)


# --- Which trees, which rows --------------------------------------------------------------------------------


def test_best_round_counts_where_predict_says_so() -> None:
    case = build("softmax, early end")
    n_rounds = case.booster.num_boosted_rounds()
    assert case.forest.n_trees == 3 * (case.model.best_iteration + 1) < 3 * n_rounds
    all_trees = Forest.from_model(case.booster)
    assert all_trees.n_trees == 3 * n_rounds
    own = margins(case.booster, case.rows)
    np.testing.assert_allclose(all_trees.scores(case.rows), own, rtol=0, atol=1e-6 * np.abs(own).max())


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


# --- What is refused ----------------------------------------------------------------------------------------


def refused() -> dict[str, Any]:
    X = training_rows()
    two, three, amount = two_classes(X), three_classes(X), amounts(X)
    both = np.column_stack([amount, amount**2])
    classifier, regressor = xgb.XGBClassifier, xgb.XGBRegressor
    return {
        "booster='dart' drops trees": lambda: classifier(**SMALL, booster="dart").fit(X, two),
        "booster='gblinear' has no trees": lambda: regressor(n_estimators=2, booster="gblinear").fit(
            X, amount
        ),
        "multi_strategy='multi_output_tree'": lambda: regressor(
            **SMALL, multi_strategy="multi_output_tree"
        ).fit(X, both),
        "predicts 2 targets": lambda: regressor(**SMALL).fit(X, both),
        "objective='binary:hinge' answers with labels": lambda: classifier(
            **SMALL, objective="binary:hinge"
        ).fit(X, two),
        "objective='survival:cox' mean. Supported are: binary:logistic": lambda: regressor(
            **SMALL, objective="survival:cox"
        ).fit(X, amount),
        "scores above 0.5, because its objective (binary:logitraw)": lambda: classifier(
            **SMALL, objective="binary:logitraw"
        ).fit(X, two),
        "scores above 0.5, because its objective (a function of yours)": lambda: classifier(
            **SMALL, objective=lambda y, score: (score - y, np.ones_like(y))
        ).fit(X, two),
        "XGBRegressor with objective='binary:logistic' predicts a share": lambda: regressor(
            **SMALL, objective="binary:logistic"
        ).fit(X, two),
        "Booster with objective='reg:logistic' predicts a share": lambda: xgb.train(
            {"objective": "reg:logistic"}, xgb.DMatrix(X, two), 2
        ),
        "takes -1.0 for a missing value": lambda: classifier(**SMALL, missing=-1.0).fit(X, three),
        "has no trees": lambda: classifier(n_estimators=0).fit(X, two),
        "single class": lambda: classifier(**SMALL, base_score=0.5).fit(X, np.zeros(N_ROWS)),
    }


@pytest.mark.parametrize("message", refused())
def test_refused(message: str) -> None:
    model = refused()[message]()
    with pytest.raises(UnsupportedModelError) as error:
        Forest.from_model(model)
    assert message in str(error.value)


@pytest.mark.parametrize("model", [xgb.XGBClassifier(), xgb.XGBRanker(), xgb.Booster()])
def test_not_fitted(model: Any) -> None:
    with pytest.raises(InvalidInputError, match="fitted"):
        Forest.from_model(model)


def test_unknown_fields_of_trees_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    booster = reloaded(build("logistic").model)
    document = json.loads(bytes(booster.save_raw("json")))
    document["learner"]["gradient_booster"]["model"]["trees"][0]["oblique"] = []
    monkeypatch.setattr(booster, "save_raw", lambda _: json.dumps(document).encode())
    with pytest.raises(UnsupportedModelError, match=r"version of XGBoost.*\(oblique\)"):
        Forest.from_model(booster)


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
