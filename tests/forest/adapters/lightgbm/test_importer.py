"""LightGBM's models as forests: the same scores and labels, and what inner nodes answer and splits gain."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import warnings

import lightgbm as lgb
import numpy as np
import pytest

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import (
    N_FEATURES,
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

every_model = pytest.mark.parametrize("name", ZOO)


@every_model
def test_rows_stop_where_they_stop_in_the_origin(name):
    case = build(name)
    forest = case.forest
    n_splits = np.bincount(forest.tree_of_node, weights=forest.is_split).astype(int)
    own = case.booster.predict(case.rows, pred_leaf=True).reshape(len(case.rows), -1)
    assert np.array_equal(forest.origin_node[forest.apply(case.rows)] - n_splits, own)


@every_model
def test_scores_are_those_of_the_origin(name):
    case = build(name)
    expected = raw_scores(case.booster, case.rows, case.forest)
    assert np.allclose(case.forest.scores(case.rows), expected, rtol=1e-13, atol=1e-13)


@every_model
def test_answers_are_those_of_the_origin(name):
    case = build(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        expected = case.model.predict(case.rows)
    if not case.forest.is_classifier:
        assert np.allclose(case.forest.predict(case.rows), expected, rtol=1e-12)
        return
    if isinstance(case.model, lgb.Booster):
        two = expected if expected.ndim == 2 else np.column_stack([1 - expected, expected])
        assert np.allclose(case.forest.predict_proba(case.rows), two, rtol=1e-12, atol=1e-15)
        expected = np.argmax(two, axis=1)
    else:
        assert np.allclose(
            case.forest.predict_proba(case.rows), case.model.predict_proba(case.rows), rtol=1e-12
        )
    assert np.array_equal(case.forest.predict(case.rows), expected)
    assert case.forest.predict(case.rows).dtype == expected.dtype


@every_model
def test_trees_know_their_round_and_output(name):
    forest = build(name).forest
    t = np.arange(forest.n_trees)
    assert np.array_equal(forest.tree_output, t % forest.n_outputs)
    if "random forest" in name:
        assert forest.divisor == forest.n_trees / forest.n_outputs
        assert not forest.tree_round.any()
    else:
        assert forest.divisor == 1.0
        assert np.array_equal(forest.tree_round, t // forest.n_outputs)


@every_model
def test_nodes_count_their_training_rows(name):
    case = build(name)
    forest = case.forest
    split = np.flatnonzero(forest.is_split)
    below = forest.weight[forest.left[split]] + forest.weight[forest.right[split]]
    assert np.array_equal(forest.weight[split], below)
    if not re.search("bagging|goss|random", name):
        reached = np.zeros(forest.n_nodes)
        np.add.at(reached, forest.apply(training_rows()), 1.0)
        assert np.array_equal(reached[~forest.is_split], forest.weight[~forest.is_split])


@pytest.mark.parametrize("name", ["binary", "binary, random forest", "multiclass", "poisson"])
def test_a_model_from_a_file_is_as_good(name, tmp_path):
    case = build(name)
    case.booster.save_model(tmp_path / "model.txt")
    again = Forest.from_model(lgb.Booster(model_file=tmp_path / "model.txt"))
    for array in ("feature", "threshold", "missing_left", "value", "base", "split_gain", "category_bits"):
        assert np.array_equal(getattr(again, array), getattr(case.forest, array), equal_nan=True)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
@pytest.mark.parametrize("form", ["booster", "classifier"])
def test_only_the_trees_that_predict_uses(form):
    X, y = training_rows(), np.random.default_rng(0).permutation(two_classes())
    stop = lgb.early_stopping(3, verbose=False)
    if form == "booster":
        train = lgb.Dataset(X[:300], y[:300])
        check = lgb.Dataset(X[300:], y[300:], reference=train)
        how = {"valid_sets": [check], "callbacks": [stop], "keep_training_booster": True}
        booster = model = lgb.train({**SMALL, "objective": "binary"}, train, 50, **how)
        assert booster.best_iteration < booster.current_iteration()
    else:
        model = lgb.LGBMClassifier(n_estimators=50, **SMALL)
        model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], callbacks=[stop])
        booster = model.booster_
    forest = Forest.from_model(model)
    assert forest.n_trees == booster.best_iteration < 50
    assert np.allclose(forest.scores(X), raw_scores(booster, X, forest), atol=1e-13)
    assert forest.to_lightgbm().num_trees() == forest.n_trees


def test_training_may_go_on_from_another_model():
    first = build("binary").booster
    data = lgb.Dataset(training_rows(), two_classes(), categorical_feature=[4, 5])
    model = lgb.train({**SMALL, "objective": "binary", "learning_rate": 0.3}, data, 3, init_model=first)
    forest = Forest.from_model(model)
    assert forest.n_trees == first.num_trees() + 3
    assert np.allclose(forest.scores(training_rows()), raw_scores(model, training_rows(), forest), atol=1e-13)


def test_splits_that_disagree_about_zero_are_refused():
    text = build("binary, zero is missing").booster.model_to_string()
    # 6: zero is missing and goes left. 8: only NaN is missing, and goes right.
    mixed = re.sub(r"decision_type=6", "decision_type=8", text, count=1)
    assert mixed != text
    with pytest.raises(UnsupportedModelError, match="zero_as_missing"):
        Forest.from_model(lgb.Booster(model_str=re.sub(r"tree_sizes=.*\n", "", mixed)))


def train(y, rounds=3, **settings):
    return lgb.train({**SMALL, **settings}, lgb.Dataset(training_rows(), y), rounds)


REFUSED = {
    "linear": (lambda: train(amounts(), objective="regression", linear_tree=True), "linear trees"),
    "dart": (lambda: train(amounts(), objective="regression", boosting="dart"), "dart"),
    "one against all": (
        lambda: train(three_classes(), objective="multiclassova", num_class=3),
        "multiclassova",
    ),
    "cross-entropy": (lambda: train(two_classes(), objective="cross_entropy"), "cross_entropy"),
    "cross-entropy, lambda": (
        lambda: train(two_classes(), objective="cross_entropy_lambda"),
        "entropy_lambda",
    ),
    "root": (lambda: train(amounts(), objective="regression", reg_sqrt=True), "regression sqrt"),
    "sigmoid": (lambda: train(two_classes(), objective="binary", sigmoid=2.0), "sigmoid=2"),
    "own scores": (
        lambda: train(
            three_classes(), objective=lambda scores, data: (scores - 1.0, np.ones_like(scores)), num_class=3
        ),
        "3 scores for a custom objective",
    ),
    "own classes": (
        lambda: lgb.LGBMClassifier(objective=lambda y, score: (score - y, np.ones(score.size)), **SMALL).fit(
            training_rows(), two_classes()
        ),
        "no class probabilities",
    ),
    "one class": (
        lambda: lgb.LGBMClassifier(n_estimators=2, **SMALL).fit(training_rows(), np.zeros(N_ROWS)),
        r"1 class\(es\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_forest_cannot_say_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(UnsupportedModelError, match=message):
        Forest.from_model(make())


def test_models_without_trees_are_refused():
    with pytest.raises(InvalidInputError, match="LGBMRegressor is not fitted"):
        Forest.from_model(lgb.LGBMRegressor())
    data = lgb.Dataset(training_rows(), amounts())
    with pytest.raises(InvalidInputError, match="no trees"):
        Forest.from_model(lgb.Booster({"verbose": -1}, data.construct()))


def test_names_that_lightgbm_made_up_are_none():
    forest = build("binary").forest
    assert forest.feature_names is None
    assert forest.n_features == N_FEATURES


@pytest.mark.parametrize("name", ["binary", "classifier, three classes", "ranker"])
def test_forests_pickle(name):
    case = build(name)
    again = pickle.loads(pickle.dumps(case.forest))
    assert np.array_equal(again.scores(case.rows), case.forest.scores(case.rows))


def test_rows_of_single_trees_are_not_known():
    with pytest.raises(InvalidInputError, match="no record of the rows"):
        build("binary").forest.in_bag_counts(N_ROWS)


def test_the_library_is_not_needed_for_others():
    code = "import sys; sys.modules['lightgbm'] = None; import budgetprune"
    subprocess.run([sys.executable, "-c", code], check=True)
