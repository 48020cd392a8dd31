"""Back to LightGBM: boosters that hold only the nodes that are left, and answer as the forest does."""

from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pytest

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import ZOO, build, raw_scores, training_rows

every_model = pytest.mark.parametrize("name", ZOO)


def changed(forest, prune_randomly, seed=0, probability=0.7):
    """Prune, and give every node another answer, as refitting leaves does."""
    pruned = forest.prune(prune_randomly(forest, seed, probability))
    noise = np.random.default_rng(seed).normal(size=pruned.value.shape)
    return replace(pruned, value=pruned.value + 0.1 * noise)


def labels(booster, rows, forest):
    answer = booster.predict(rows)
    return forest.classes[np.argmax(answer, axis=1) if answer.ndim == 2 else (answer > 0.5).astype(int)]


@every_model
def test_the_unpruned_forest_comes_back_as_it_was(name):
    case = build(name)
    back = case.forest.to_lightgbm()
    assert isinstance(back, lgb.Booster)
    assert np.allclose(back.predict(case.rows), case.booster.predict(case.rows), rtol=1e-12, atol=1e-15)
    for kind in ("split", "gain"):
        importance = case.booster.feature_importance(kind)
        assert np.allclose(back.feature_importance(kind), importance, rtol=1e-5)
    assert back.feature_name() == case.booster.feature_name()


@every_model
def test_pruned_and_refitted_forests_answer_alike(name, prune_randomly, tmp_path):
    case = build(name)
    forest = changed(case.forest, prune_randomly)
    back = forest.to_lightgbm()
    back.save_model(tmp_path / "model.txt")
    for model in (back, lgb.Booster(model_file=tmp_path / "model.txt")):
        assert np.allclose(
            raw_scores(model, case.rows, forest), forest.scores(case.rows), rtol=1e-12, atol=1e-12
        )
        if forest.is_classifier:
            assert np.array_equal(labels(model, case.rows, forest), forest.predict(case.rows))
        n_leaves = np.bincount(forest.tree_of_node, weights=~forest.is_split)
        assert [tree["num_leaves"] for tree in model.dump_model()["tree_info"]] == n_leaves.tolist()


@pytest.mark.parametrize("name", ["binary", "multiclass", "binary, random forest", "poisson", "ranker"])
def test_roots_alone_are_trees(name):
    case = build(name)
    forest = case.forest.prune(np.zeros(case.forest.n_nodes, dtype=bool))
    back = forest.to_lightgbm()
    assert np.allclose(raw_scores(back, case.rows, forest), forest.scores(case.rows), rtol=1e-12)
    again = Forest.from_model(back)
    assert again.n_splits == 0
    assert np.array_equal(again.weight, forest.weight)
    assert np.allclose(again.scores(case.rows), forest.scores(case.rows), rtol=1e-12)


@pytest.mark.parametrize("name", ["binary", "binary, penalties", "multiclass", "regression", "poisson"])
def test_what_came_back_can_be_pruned_further(name, prune_randomly):
    """Pruned nodes are Newton steps as leaves are, so that an exported model still tells its gains."""
    case = build(name)
    pruned = case.forest.prune(prune_randomly(case.forest, 1))
    again = Forest.from_model(pruned.to_lightgbm())
    for array in ("feature", "right", "missing_left", "weight", "threshold"):
        assert np.array_equal(getattr(again, array), getattr(pruned, array), equal_nan=True)
    assert np.allclose(again.value, pruned.value, atol=1e-6 * np.abs(pruned.value).max())
    assert np.allclose(again.split_gain, pruned.split_gain, atol=1e-4 * pruned.split_gain.max())


def test_only_sets_of_categories_that_are_left_are_written(prune_randomly):
    forest = changed(build("binary").forest, prune_randomly, probability=0.85)
    again = Forest.from_model(forest.to_lightgbm())
    n_left = np.count_nonzero(forest.category_set >= 0)
    assert 0 < n_left < forest.category_start.size - 1
    assert again.category_start.size - 1 == n_left


def test_the_origin_stays_as_it_was(prune_randomly):
    case = build("binary")
    before = case.booster.model_to_string()
    changed(case.forest, prune_randomly).to_lightgbm()
    assert case.booster.model_to_string() == before


def test_parameters_are_kept():
    kept = build("binary, penalties").forest.to_lightgbm().model_to_string()
    assert "[lambda_l2: 3]" in kept


def test_what_lightgbm_cannot_say_is_refused(get_case):
    forest = build("multiclass").forest
    for change, message in (
        ({"origin": None}, "origin is missing"),
        ({"link": "identity", "label_rule": "argmax", "loss": None}, "the link was changed"),
        ({"divisor": 2.0}, "the divisor was changed"),
    ):
        with pytest.raises(UnsupportedModelError, match=message):
            replace(forest, **change).to_lightgbm()
    with pytest.raises(UnsupportedModelError, match="origin is RandomForestClassifier"):
        get_case("random forest").forest.to_lightgbm()


def test_thresholds_come_back_to_the_last_bit():
    forest = build("regression, far from zero").forest
    again = Forest.from_model(forest.to_lightgbm())
    assert np.array_equal(again.threshold, forest.threshold, equal_nan=True)
    assert np.allclose(again.scores(training_rows()), forest.scores(training_rows()), rtol=1e-14)
