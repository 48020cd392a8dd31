"""Pruned forests as XGBoost's own Boosters again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from sklearn.tree import DecisionTreeRegressor

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import ZOO, amounts, build, margins, training_rows

Prune = Callable[..., np.ndarray]


def pruned_and_refitted(forest: Forest, prune_randomly: Prune) -> Forest:
    """Few nodes, other answers: each tree loses splits, some all of them."""
    pruned = forest.prune(prune_randomly(forest, seed=1, probability=0.8))
    noise = np.random.default_rng(0).normal(size=pruned.value.shape)
    return replace(pruned, value=pruned.value * (1 + noise / 2), split_gain=None)


def assert_same_scores(booster: Any, forest: Forest, rows: np.ndarray) -> None:
    own = margins(booster, rows)
    np.testing.assert_allclose(forest.scores(rows), own, rtol=0, atol=1e-6 * np.abs(own).max())


@pytest.mark.parametrize("name", ZOO)
def test_pruned_boosters_answer_as_the_forest(name: str, prune_randomly: Prune, tmp_path: Path) -> None:
    case = build(name)
    before = bytes(case.booster.save_raw("json"))
    forest = pruned_and_refitted(case.forest, prune_randomly)
    booster = forest.to_xgboost()
    assert forest.n_nodes < case.forest.n_nodes or not case.forest.n_splits
    assert len(booster.trees_to_dataframe()) == forest.n_nodes
    assert_same_scores(booster, forest, case.rows)

    booster.save_model(tmp_path / "model.json")
    again = xgb.Booster(model_file=tmp_path / "model.json")
    assert_same_scores(again, forest, case.rows)
    if "reg" not in name:  # only its wrapper says that its targets are classes
        rounded = replace(forest, value=forest.value.astype(np.float32))
        np.testing.assert_array_equal(Forest.from_model(again).scores(case.rows), rounded.scores(case.rows))
    assert bytes(case.booster.save_raw("json")) == before


@pytest.mark.parametrize("name", ["logistic, missing", "softmax, early end", "logistic, categories"])
def test_wrappers_load_pruned_boosters(name: str, prune_randomly: Prune, tmp_path: Path) -> None:
    case = build(name)
    forest = pruned_and_refitted(case.forest, prune_randomly)
    forest.to_xgboost().save_model(tmp_path / "model.ubj")
    model = xgb.XGBClassifier(feature_types=case.booster.feature_types, enable_categorical=True)
    model.load_model(tmp_path / "model.ubj")
    assert_same_scores(model, forest, case.rows)
    scores = np.sort(margins(model, case.rows), axis=1)
    is_clear = np.abs(scores[:, -1] - (0 if scores.shape[1] == 1 else scores[:, -2])) > 1e-5
    np.testing.assert_array_equal(forest.predict(case.rows)[is_clear], model.predict(case.rows)[is_clear])
    np.testing.assert_allclose(forest.predict_proba(case.rows), model.predict_proba(case.rows), atol=1e-6)


@pytest.mark.parametrize("name", ["logistic", "squared, categories", "softmax, early end"])
def test_nothing_pruned_is_the_same_model(name: str) -> None:
    case = build(name)
    booster = case.forest.to_xgboost()
    assert_same_scores(booster, case.forest, case.rows)
    trees = [
        json.loads(bytes(b.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
        for b in (booster, case.booster)
    ]
    ignored = {"base_weights"}
    for new, old in zip(*trees, strict=False):
        assert {k: v for k, v in new.items() if k not in ignored} == {
            k: v for k, v in old.items() if k not in ignored
        }


def test_all_pruned_is_a_constant() -> None:
    case = build("softmax")
    forest = case.forest.prune(np.zeros(case.forest.n_nodes, dtype=bool))
    booster = forest.to_xgboost()
    assert_same_scores(booster, forest, case.rows)
    assert np.ptp(margins(booster, case.rows), axis=0).max() == 0


def test_pruned_boosters_can_be_pruned_again(prune_randomly: Prune) -> None:
    """What is left of a clean model is clean: inner nodes answer as before."""
    case = build("logistic, missing")
    forest = case.forest.prune(prune_randomly(case.forest, seed=2))
    again = Forest.from_model(forest.to_xgboost())
    np.testing.assert_allclose(again.value, forest.value, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(again.split_gain, forest.split_gain, rtol=1e-3, atol=1e-6)


def test_best_round_is_forgotten(prune_randomly: Prune) -> None:
    """A Booster answers with all its trees; a wrapper that loads them must not stop at the best round."""
    forest = Forest.from_model(build("softmax, early end").booster)
    assert "best_iteration" not in forest.to_xgboost().attributes()


def test_other_origins_are_refused() -> None:
    X = training_rows()
    with pytest.raises(UnsupportedModelError, match="origin is DecisionTreeRegressor"):
        Forest.from_model(DecisionTreeRegressor(max_depth=2).fit(X, amounts(X))).to_xgboost()
    with pytest.raises(UnsupportedModelError, match="origin is missing"):
        replace(build("squared").forest, origin=None).to_xgboost()


def test_what_a_booster_cannot_say_is_refused() -> None:
    forest = build("squared").forest
    with pytest.raises(UnsupportedModelError, match=r"its identity link; this forest has the exp link"):
        replace(forest, link="exp", loss=None).to_xgboost()
    with pytest.raises(UnsupportedModelError, match="base score"):
        replace(forest, base=forest.base + 1).to_xgboost()
    with pytest.raises(UnsupportedModelError, match="divides by 2"):
        replace(forest, divisor=2.0).to_xgboost()


def test_origins_that_were_trained_further_are_refused() -> None:
    X, y = training_rows(), amounts(training_rows())
    booster = xgb.train({"max_depth": 2}, xgb.DMatrix(X, y), 2)
    forest = Forest.from_model(booster)
    booster.update(xgb.DMatrix(X, y), 2)
    with pytest.raises(UnsupportedModelError, match="2 trees but its origin 3"):
        forest.to_xgboost()
