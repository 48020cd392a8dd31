"""Values of inner nodes and gains of splits, from what XGBoost records."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xgboost as xgb

from budgetprune.forest import Forest
from budgetprune.losses import find_loss

from .zoo import (
    CLEAN,
    N_ROWS,
    SMALL,
    WEIGHT,
    Trained,
    booster_of,
    build,
    training_rows,
    two_classes,
)

clean_models = pytest.mark.parametrize("name", CLEAN)


def reloaded(model: Any) -> xgb.Booster:
    """The same model from a file: it no longer knows how it was trained."""
    booster = xgb.Booster()
    booster.load_model(bytearray(booster_of(model).save_raw("json")))
    return booster


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
