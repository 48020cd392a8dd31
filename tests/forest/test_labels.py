"""Labels where probabilities tie or nearly do: those of the library, in its own precision."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from budgetprune import BudgetPredictor, Forest
from budgetprune.forest.labels import label_cut, tie_margin

N_ROWS = 64
X = np.arange(float(N_ROWS))[:, np.newaxis]


# Of the last bit below 1. None is so close to a half that a C library could round its exponential either way.
SHARES = np.array([0.0, 0.3, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.7, 3.0, 4.0, 8.0, 64.0, 1e6])


def near_ties(dtype: Any, seed: int, n_rows: int) -> np.ndarray:
    """Scores of three classes that differ by multiples of 0.4 of the last bit below 1."""
    steps = np.random.default_rng(seed).integers(-5, 6, (n_rows, 3))
    return (steps * 0.4 * np.finfo(dtype).epsneg).astype(dtype)


# --- LightGBM -----------------------------------------------------------------------------------------------


def lightgbm_with_scores(scores: np.ndarray) -> lgb.LGBMClassifier:
    """A model whose leaf `j` has the scores of row `j`, one tree per column."""
    n_leaves, n_outputs = scores.shape
    y = np.random.default_rng(0).integers(0, max(n_outputs, 2), N_ROWS)
    y[:3] = np.arange(3) % max(n_outputs, 2)
    model = lgb.LGBMClassifier(
        n_estimators=1,
        num_leaves=n_leaves,
        min_child_samples=1,
        min_child_weight=0,
        min_data_in_bin=1,
        boost_from_average=False,
        verbose=-1,
        n_jobs=1,
    ).fit(X, y)
    for k in range(n_outputs):
        for j in range(n_leaves):
            model.booster_.set_leaf_output(k, j, scores[j, k])
    return model


@pytest.mark.parametrize("sign", [1, -1])
def test_lightgbm_two_classes(sign):
    scores = sign * SHARES * 2.0**-53
    model = lightgbm_with_scores(scores[:, np.newaxis])
    forest = Forest.from_model(model)
    assert np.array_equal(forest.predict(X), model.predict(X))
    assert np.array_equal(forest.predict(X), (model.booster_.predict(X) > 0.5).astype(int))
    if sign > 0:  # zero is not where labels change
        assert set(forest.predict(X)[forest.scores(X)[:, 0] > 0]) == {0, 1}


def test_lightgbm_three_classes():
    """Three trees with other leaves each, so that rows meet many near ties."""
    model = lightgbm_with_scores(near_ties(np.float64, 1, 16))
    forest = Forest.from_model(model)
    assert np.array_equal(forest.predict(X), model.predict(X))
    # Scores alone would say something else.
    assert np.any(forest.classes[np.argmax(forest.scores(X), axis=1)] != model.predict(X))


# --- XGBoost ------------------------------------------------------------------------------------------------


def xgboost_with_scores(objective: str, scores: np.ndarray) -> xgb.Booster:
    """A booster whose rows have such scores, one tree per column; rows of one leaf have those of the last."""
    n_rows, n_outputs = scores.shape
    y = np.random.default_rng(0).permutation(n_rows) % max(n_outputs, 2)
    settings = {"objective": objective, "max_depth": 6, "base_score": 0.0 if n_outputs > 1 else 0.5}
    settings |= {"min_child_weight": 0, "lambda": 0, "gamma": 0, "nthread": 1}
    settings |= {"num_class": n_outputs} if n_outputs > 1 else {}
    booster = xgb.train(settings, xgb.DMatrix(X[:n_rows], y), 1)
    document = json.loads(bytes(booster.save_raw("json")))
    leaf = booster.predict(xgb.DMatrix(X[:n_rows]), pred_leaf=True).reshape(n_rows, -1).astype(int)
    for k, tree in enumerate(document["learner"]["gradient_booster"]["model"]["trees"]):
        for i in range(n_rows):
            tree["split_conditions"][leaf[i, k]] = float(scores[i, k])
    changed = xgb.Booster()
    changed.load_model(bytearray(json.dumps(document), "utf-8"))
    return changed


def test_xgboost_two_classes():
    scores = np.random.default_rng(0).permutation([*SHARES, *-SHARES]) * 2.0**-24
    model = xgboost_with_scores("binary:logistic", scores[:, np.newaxis])
    rows = X[: scores.size]
    forest = Forest.from_model(model)
    expected = (model.predict(xgb.DMatrix(rows)) > np.float32(0.5)).astype(int)
    assert np.array_equal(forest.predict(rows), expected)
    assert set(expected) == {0, 1}
    assert np.any((forest.scores(rows)[:, 0] > 0) & (expected == 0))


def test_xgboost_wrapper(tmp_path):
    scores = SHARES * 2.0**-24
    xgboost_with_scores("binary:logistic", scores[:, np.newaxis]).save_model(tmp_path / "m.json")
    rows = X[: scores.size]
    model = xgb.XGBClassifier()
    model.load_model(tmp_path / "m.json")
    assert np.array_equal(Forest.from_model(model).predict(rows), model.predict(rows))


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_xgboost_three_classes(objective):
    model = xgboost_with_scores(objective, near_ties(np.float32, 2, N_ROWS))
    forest = Forest.from_model(model)
    found = model.predict(xgb.DMatrix(X))
    expected = found.astype(int) if objective == "multi:softmax" else np.argmax(found, axis=1)
    assert np.array_equal(forest.predict(X), expected)
    by_score = np.argmax(forest.scores(X), axis=1)
    assert np.any(by_score != expected) == (objective == "multi:softprob")


def test_rounding_of_a_sum_is_all_that_can_differ():
    """XGBoost adds in single precision: labels can differ only where the scores are within its rounding."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, N_ROWS)
    model = xgb.XGBRFClassifier(n_estimators=50, max_depth=4, random_state=0, base_score=0.5, n_jobs=1).fit(
        X, y
    )
    forest = Forest.from_model(model)
    rows = np.linspace(-1, N_ROWS, 999)[:, np.newaxis]
    scores = forest.scores(rows)[:, 0]
    rounding = forest.n_trees * np.finfo(np.float32).eps * np.abs(forest.value).max() * forest.n_trees
    differs = forest.predict(rows) != model.predict(rows)
    assert np.all(np.abs(scores[differs]) <= rounding + label_cut(forest))


# --- Early decisions ----------------------------------------------------------------------------------------


def two_trees(forest: Forest, first: np.ndarray, n_features: int = 2) -> Forest:
    """Stumps on different features whose answers add up to scores near ties."""
    n_outputs = first.shape[1]
    one = np.zeros((6, n_outputs))
    one[1], one[2] = first[0], first[1]
    one[4], one[5] = first[2], first[3]
    links = {"parent": [-1, 0, 0, -1, 3, 3], "left": [1, -1, -1, 4, -1, -1], "right": [2, -1, -1, 5, -1, -1]}
    return Forest(
        tree_start=[0, 3, 6],
        **{name: np.array(numbers) for name, numbers in links.items()},
        feature=np.array([0, -1, -1, 1, -1, -1]),
        threshold=np.array([0.5, np.nan, np.nan, 0.5, np.nan, np.nan]),
        missing_left=np.zeros(6, dtype=bool),
        category_set=np.full(6, -1),
        category_start=np.zeros(1),
        category_bits=np.empty(0),
        value=one,
        weight=np.ones(6),
        class_weight=None,
        variance=None,
        tree_output=np.full(2, -1),
        base=np.zeros(n_outputs),
        divisor=1.0,
        link=forest.link,
        label_rule=forest.label_rule,
        label_dtype=forest.label_dtype,
        classes=np.arange(max(n_outputs, 2)),
        n_features=n_features,
        feature_names=None,
        input_dtype=np.dtype(np.float64),
        missing="nan",
        origin=None,
        origin_node=np.zeros(6),
    )


RULES = [
    ("logistic", "likeliest", np.float64),
    ("logistic", "likeliest", np.float32),
    ("logistic", "positive", np.float64),
    ("logistic", "nonnegative", np.float32),
    ("softmax", "likeliest", np.float64),
    ("softmax", "likeliest", np.float32),
    ("softmax", "argmax", np.float32),
    ("softmax", "nonnegative", np.float32),
]


@pytest.mark.parametrize(("link", "rule", "dtype"), RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_never_disagree_with_predictions(link, rule, dtype, n_classes):
    """Whatever is decided early is the label that all features give, however close the scores are."""
    if rule == "nonnegative":
        n_classes = 2  # the rule has no meaning for more
    n_outputs = 1 if link == "logistic" else n_classes
    like = replace(
        two_trees(FakeRule("softmax", "argmax", np.float64), np.zeros((4, n_classes)))
        if link == "softmax"
        else two_trees(FakeRule("logistic", "positive", np.float64), np.zeros((4, 1))),
        label_rule=rule,
        label_dtype=np.dtype(dtype),
    )
    rng = np.random.default_rng(0)
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    bit = np.finfo(dtype).epsneg / 2
    n_early = 0
    for _ in range(60):
        size = 10.0 ** rng.integers(0, 3)
        first = rng.integers(-8, 9, (4, n_outputs)) * bit * size
        first[rng.random(4) < 0.2] += rng.choice([-1.0, 1.0, 4.0])
        forest = two_trees(like, first)
        predictor = BudgetPredictor(forest, [1.0, 2.0])
        expected = forest.predict(rows)
        simulated = predictor.simulate(rows)
        assert np.array_equal(simulated.label, expected)
        assert np.array_equal(predictor.predict(rows), expected)
        for row, label in zip(rows, expected, strict=True):
            assert predictor.decide(lambda name, row=row: row[int(name[-1])]).label == label
        n_early += np.count_nonzero(simulated.cost < 3.0)
    assert n_early  # some are decided before all is known


class FakeRule:
    def __init__(self, link: str, label_rule: str, dtype: Any) -> None:
        self.link, self.label_rule, self.label_dtype = link, label_rule, np.dtype(dtype)


def test_a_lead_beyond_the_margin_is_never_lost():
    """The margin that early decisions keep covers whatever rounding can do to a lead."""
    rng = np.random.default_rng(0)
    for link, rule, dtype in RULES[4:-1]:
        forest = two_trees(FakeRule(link, rule, dtype), np.zeros((4, 3)))
        for size in (1e-6, 1.0, 30.0, 1e4):
            scores = rng.uniform(-size, size, (500, 3))
            margin = tie_margin(forest, size)
            runner_up = rng.integers(0, 3, 500)
            leader = (runner_up + rng.integers(1, 3, 500)) % 3
            top = scores.max(axis=1)
            scores[np.arange(500), runner_up] = top
            scores[np.arange(500), leader] = top + np.nextafter(1.01 * margin, 1) + np.abs(np.spacing(top))
            clear = scores.max(axis=1) - np.sort(scores, axis=1)[:, 1] > margin
            assert np.array_equal(forest.answers(scores)[clear], leader[clear])


# --- Files --------------------------------------------------------------------------------------------------


def test_files_keep_the_rule(tmp_path):
    for dtype in (np.float64, np.float32):
        forest = two_trees(FakeRule("logistic", "likeliest", dtype), np.zeros((4, 1)))
        predictor = BudgetPredictor(forest, [1.0, 2.0])
        predictor.save(tmp_path / "m.budgetprune")
        loaded = BudgetPredictor.load(tmp_path / "m.budgetprune").forest
        assert (loaded.label_rule, loaded.label_dtype) == ("likeliest", dtype)


def test_rules_that_there_were_before_are_written_as_before(tmp_path):
    forest = two_trees(FakeRule("logistic", "positive", np.float64), np.zeros((4, 1)))
    BudgetPredictor(forest, [1.0, 2.0]).save(tmp_path / "m.budgetprune")
    assert b"label_dtype" not in (tmp_path / "m.budgetprune").read_bytes()
