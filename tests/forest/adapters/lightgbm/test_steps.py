"""Newton steps of LightGBM: values of inner nodes, gains and base scores."""

from __future__ import annotations

import re

import lightgbm as lgb
import numpy as np
import pytest

from budgetprune.forest import Forest
from budgetprune.losses import find_loss

from .zoo import (
    EXACT,
    N_ROWS,
    SMALL,
    ZOO,
    amounts,
    build,
    raw_scores,
    three_classes,
    training_rows,
    two_classes,
)

exact_models = pytest.mark.parametrize("name", EXACT)


def steps_from_rows(case, penalty, enlarged):
    """Newton steps of the rows at every node, at the scores before its round, and their gradients."""
    forest, X = case.forest, training_rows()
    y = np.searchsorted(forest.classes, case.y) if forest.is_classifier else case.y
    at = forest.apply(X)
    path = [at]
    while (path[-1] >= 0).any():
        path.append(np.where(path[-1] >= 0, forest.parent[path[-1]], -1))
    gradient, curvature = np.zeros(forest.n_nodes), np.zeros(forest.n_nodes)
    for t in range(forest.n_trees):
        before = np.tile(forest.base, (N_ROWS, 1))
        for s in np.flatnonzero(forest.tree_round < forest.tree_round[t]):
            before[:, forest.tree_output[s]] += forest.value[at[:, s], 0]
        sums = find_loss(forest.loss).derivatives(before / forest.divisor, y)
        for nodes in path:
            seen = nodes[:, t] >= 0
            for total, part in zip((gradient, curvature), sums, strict=True):
                np.add.at(total, nodes[seen, t], part[seen, forest.tree_output[t]])
    rate = float(re.search(r"\[learning_rate: (.*)\]", case.booster.model_to_string())[1])
    rate = 1.0 if forest.divisor > 1 else rate
    return -rate * gradient / (enlarged * curvature + penalty), gradient, curvature


def penalties(forest, l2, cat_l2):
    """LightGBM penalises the children of a split by many categories more."""
    by_many = (forest.category_set >= 0) & (forest.feature == 4)
    return l2 + cat_l2 * (by_many[forest.parent] & (forest.parent >= 0))


@exact_models
def test_inner_values_and_gains_are_those_of_the_rows(name):
    """A collapsed node takes the shrunken Newton step of its rows, and the gain is what that loses."""
    case = build(name)
    forest = case.forest
    penalty = penalties(forest, *((3.0, 4.0) if name == "binary, penalties" else (0.0, 10.0)))
    enlarged = {"softmax": forest.n_outputs / max(forest.n_outputs - 1, 1), "poisson": np.exp(0.7)}
    step, gradient, curvature = steps_from_rows(case, penalty, enlarged.get(forest.loss, 1.0))
    has_splits = np.diff(forest.tree_start)[forest.tree_of_node] > 1
    scale = np.abs(step[has_splits]).max()
    # LightGBM's labels and gradients are float32.
    error = 1e-4 if "far" in name else 1e-6
    assert np.allclose(forest.value[has_splits, 0], step[has_splits], rtol=0, atol=error * scale)

    answer = forest.value[:, 0] / forest.divisor
    loss = gradient * answer + curvature * answer**2 / 2
    split = np.flatnonzero(forest.is_split)
    lost = (loss[split] - loss[forest.left[split]] - loss[forest.right[split]]) / N_ROWS
    assert np.allclose(forest.split_gain[split], lost, rtol=0, atol=10 * error * lost.max())
    assert not forest.split_gain[~forest.is_split].any()


def test_gains_are_on_the_scale_of_what_is_recorded():
    """Without penalties, a recorded gain is twice the gain of a full step."""
    case = build("binary")
    trees = case.booster.trees_to_dataframe().query("left_child.notna()")
    rate, forest = 0.1, case.forest
    by_tree = [
        forest.split_gain[a:b].sum()
        for a, b in zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True)
    ]
    plain = trees.groupby("tree_index")["split_gain"].sum() * (rate - rate**2 / 2) / N_ROWS
    used_many = set(trees.query("split_feature == 'Column_4'")["tree_index"])
    assert [t for t in plain.index if t not in used_many]
    for t in plain.index:
        assert by_tree[t] == pytest.approx(plain[t], rel=1e-4 if t not in used_many else 0.3)


def test_gains_under_feature_costs_are_larger_than_what_is_recorded():
    """LightGBM takes the price off the gains that it records; pruning will charge it once more."""
    case = build("binary, feature costs")
    recorded = case.booster.trees_to_dataframe()["split_gain"].sum() * (0.1 - 0.005) / N_ROWS
    assert case.forest.split_gain.sum() > 1.03 * recorded


def test_base_is_the_constant_that_boosting_starts_from():
    share = two_classes().mean()
    assert build("binary").forest.base == pytest.approx(np.log(share / (1 - share)), rel=1e-6)
    assert build("poisson").forest.base == pytest.approx(np.log(amounts().mean()), rel=1e-6)
    counts = np.bincount(three_classes()) / N_ROWS
    assert np.allclose(build("multiclass").forest.base, np.log(counts), rtol=1e-6)
    forest = build("regression, random forest").forest
    assert forest.base / forest.divisor == pytest.approx(amounts().mean(), rel=1e-6)
    for name in ("binary, from zero", "binary, full steps from zero", "own objective", "ranking"):
        assert build(name).forest.base == 0


@pytest.mark.parametrize("name", ["absolute error", "quantile", "percentage error"])
def test_inner_nodes_answer_with_the_mean_of_leaves_that_were_set_afterwards(name):
    forest = build(name).forest
    assert forest.split_gain is None
    for h in np.flatnonzero(forest.is_split):
        stop = np.flatnonzero(forest.depth[h + 1 :] <= forest.depth[h])
        below = np.arange(h + 1, h + 1 + stop[0] if stop.size else forest.n_nodes)
        leaves = below[~forest.is_split[below]]
        mean = np.average(forest.value[leaves, 0], weights=forest.weight[leaves])
        assert forest.value[h, 0] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        f"regression, {how}"
        for how in ("absolute penalty", "short steps", "smoothed", "constrained", "quantized")
    ],
)
def test_no_gains_where_leaves_are_no_newton_steps(name):
    case = build(name)
    forest = case.forest
    assert forest.split_gain is None
    inner = case.booster.trees_to_dataframe().query("left_child.notna()")["value"]
    base = np.where(forest.tree_round == 0, forest.base[0], 0.0)[forest.tree_of_node]
    assert np.allclose(np.sort((forest.value[:, 0] + base)[forest.is_split]), np.sort(inner), rtol=1e-5)


@pytest.mark.parametrize("how", ["refit", "set_leaf_output"])
def test_leaves_that_somebody_changed_are_found_out(how):
    model, y, _ = ZOO["regression"]()
    if how == "refit":
        model = model.refit(training_rows(), 3.0 - y, decay_rate=0.1)
    else:
        model.set_leaf_output(2, 3, 0.5)
    forest = Forest.from_model(model)
    assert forest.split_gain is None
    assert np.allclose(forest.scores(training_rows()), raw_scores(model, training_rows(), forest))
    root = forest.tree_start[2]
    leaves = np.arange(root, forest.tree_start[3])
    leaves = leaves[~forest.is_split[leaves]]
    assert forest.value[root, 0] == pytest.approx(
        np.average(forest.value[leaves, 0], weights=forest.weight[leaves]), abs=1e-12
    )


def test_without_parameters_nothing_is_guessed():
    case = build("binary, penalties")
    text = re.sub(r"(?s)\nparameters:.*end of parameters\n", "", case.booster.model_to_string())
    forest = Forest.from_model(lgb.Booster(model_str=text))
    assert forest.split_gain is None
    assert np.array_equal(forest.scores(case.rows), case.forest.scores(case.rows))
    later = forest.tree_round[forest.tree_of_node] > 0
    assert np.allclose(forest.value[later], case.forest.value[later], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_learning_rates_may_change_from_round_to_round(rate):
    data = lgb.Dataset(training_rows(), amounts())
    schedule = lgb.reset_parameter(learning_rate=lambda i: rate * 0.5 ** max(i - 1, 0))
    model = lgb.train({**SMALL, "objective": "regression"}, data, 4, callbacks=[schedule])
    forest = Forest.from_model(model)
    recorded = model.trees_to_dataframe().groupby("tree_index")["split_gain"].sum()
    for t, eta in enumerate([rate, rate, rate / 2, rate / 4]):
        own = forest.split_gain[forest.tree_start[t] : forest.tree_start[t + 1]].sum()
        assert own == pytest.approx(recorded[t] * (eta - eta**2 / 2) / N_ROWS, rel=1e-4)
