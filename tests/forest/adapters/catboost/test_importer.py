"""CatBoost's models as forests: the same scores and labels, and weights of nodes."""

from __future__ import annotations

import subprocess
import sys

import catboost as cb
import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.errors import BudgetPruneError, InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import (
    CLASSIFIER,
    N_ROWS,
    REGRESSOR,
    SMALL,
    WEIGHT,
    ZOO,
    build,
    raw_scores,
    signal,
    three,
    training_rows,
    two,
)

every_model = pytest.mark.parametrize("name", ZOO)


@every_model
def test_scores_are_the_librarys(name):
    model, forest, rows = build(name)
    own = raw_scores(model, rows)
    # Both add in double precision; CatBoost may add in another order.
    np.testing.assert_allclose(forest.scores(rows), own, rtol=0, atol=1e-14 * (1 + np.abs(own).max()))


@every_model
def test_answers_are_the_librarys(name):
    model, forest, rows = build(name)
    if type(model) is cb.CatBoost:
        kind = "Probability" if forest.is_classifier else "Exponent"
        own = model.predict(rows, prediction_type=kind)
        np.testing.assert_allclose(forest.predict_proba(rows), own, rtol=0, atol=1e-14)
    elif forest.is_classifier:
        np.testing.assert_allclose(forest.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-14)
        np.testing.assert_array_equal(forest.predict(rows), model.predict(rows).ravel())
        np.testing.assert_array_equal(forest.classes, model.classes_ if model.classes_.size else [0, 1])
        assert np.unique(forest.predict(rows)).size == forest.classes.size
    else:
        np.testing.assert_allclose(forest.predict(rows), model.predict(rows), rtol=1e-13)


@every_model
def test_shape_of_the_ensemble(name):
    model, forest, _ = build(name)
    assert forest.n_trees == model.tree_count_
    assert forest.feature_names is None
    np.testing.assert_array_equal(forest.tree_round, np.arange(forest.n_trees))
    assert forest.loss is not None or forest.link != "softmax"
    assert forest.origin is model


def test_weights_are_those_of_the_training_rows():
    for name, weight in (("logistic, weights", WEIGHT), ("logistic", np.ones(N_ROWS))):
        _, forest, _ = build(name)
        leaves = forest.apply(training_rows())
        expected = np.zeros(forest.n_nodes)
        np.add.at(expected, leaves, np.broadcast_to(weight[:, np.newaxis], leaves.shape))
        np.testing.assert_allclose(forest.weight[~forest.is_split], expected[~forest.is_split], rtol=1e-6)
        split = np.flatnonzero(forest.is_split)
        total = forest.weight[:, np.newaxis] * forest.value
        parts = total[forest.left[split]] + total[forest.right[split]]
        np.testing.assert_allclose(total[split], parts, rtol=1e-9, atol=1e-9)


def test_symmetric_trees_are_complete():
    _, forest, _ = build("logistic")
    assert set(np.diff(forest.tree_start)) == {2 * 2 ** SMALL["depth"] - 1}
    # All nodes of one depth share a split.
    for start, end in zip(forest.tree_start, forest.tree_start[1:], strict=False):
        for depth in range(SMALL["depth"]):
            nodes = start + np.flatnonzero(forest.depth[start:end] == depth)
            assert len({(forest.feature[h], forest.threshold[h]) for h in nodes}) == 1


def test_ties_go_to_the_first_class():
    """All leaves are 0, so that both classes are as likely."""
    X = training_rows()
    model = cb.CatBoostClassifier(**SMALL).fit(X, two(X))
    model.set_leaf_values(np.zeros(model.get_leaf_values().size))
    forest = Forest.from_model(model)
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    model = cb.CatBoostClassifier(**SMALL).fit(X, three(X))
    model.set_leaf_values(np.zeros(model.get_leaf_values().size))
    np.testing.assert_array_equal(Forest.from_model(model).predict(X), model.predict(X).ravel())


def test_doubles_are_rounded_as_catboost_does():
    X = training_rows()
    model = CLASSIFIER(**SMALL).fit(X, two(X))
    forest = Forest.from_model(model)
    split = np.flatnonzero(forest.is_split)
    rows = np.resize(X, (split.size, X.shape[1]))
    # Just above a border in double precision, but on it in single precision.
    rows[np.arange(split.size), forest.feature[split]] = np.nextafter(forest.threshold[split], np.inf)
    assert (rows.astype(np.float32) != rows).any(axis=1).all()
    np.testing.assert_allclose(forest.scores(rows), raw_scores(model, rows), rtol=0, atol=1e-14)


def test_names_of_features():
    X = pd.DataFrame(training_rows(), columns=[f"column {k}" for k in range(5)])
    forest = Forest.from_model(REGRESSOR(**SMALL).fit(X, signal(X.to_numpy())))
    assert forest.feature_names == tuple(X.columns)


@pytest.mark.parametrize("name", ["logistic", "softmax, depth-wise", "squared"])
def test_they_can_be_pruned(name):
    X = training_rows()
    model, whole, _ = build(name)
    kind, y = (BudgetPruneRegressor, signal(X)) if name == "squared" else (BudgetPruneClassifier, two(X))
    y = three(X) if "softmax" in name else y
    ours = kind(FrozenEstimator(model), budget=3.0, random_state=0).fit(X, y)
    assert ours.acquisition_cost(X).mean() <= 3.0
    assert 0 < ours.forest_.n_splits < whole.n_splits


def test_models_that_were_loaded_can_be_pruned(tmp_path):
    """Their class says nothing about the task, and CatBoost takes them for regressors."""
    X = training_rows()
    build("logistic")[0].save_model(str(tmp_path / "model.cbm"))
    model = cb.CatBoost().load_model(str(tmp_path / "model.cbm"))
    ours = BudgetPruneClassifier(FrozenEstimator(model), budget=3.0, random_state=0).fit(X, two(X))
    assert ours.forest_.n_splits > 0
    with pytest.raises(UnsupportedModelError, match="use BudgetPruneClassifier"):
        BudgetPruneRegressor(FrozenEstimator(model), budget=3.0).fit(X, signal(X))


def test_catboost_is_optional():
    program = "import sys; sys.modules['catboost'] = None; import budgetprune.forest.adapters"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_they_are_not_written():
    with pytest.raises(UnsupportedModelError, match="does not write models of CatBoost"):
        build("logistic")[1].to_model()


# --- Refusals -----------------------------------------------------------------------------------------------


def train(kind, y, X=None, **settings):
    return kind(**SMALL, **settings).fit(training_rows() if X is None else X, y)


def of_texts():
    table = pd.DataFrame({"words": ["red apple", "green pear", "red pear"] * 100, "x": training_rows()[:, 0]})
    return train(CLASSIFIER, two(training_rows()), table, text_features=["words"])


def of_embeddings():
    table = pd.DataFrame({"x": training_rows()[:, 0], "vector": list(training_rows()[:, :3])})
    return train(CLASSIFIER, two(training_rows()), table, embedding_features=["vector"])


def of_statistics():
    table = pd.DataFrame({"x": training_rows()[:, 0], "city": np.arange(N_ROWS) % 9 // 2})
    y = (table["city"] % 2 == 0).astype(int)
    return train(CLASSIFIER, y, table, cat_features=["city"])


def with_threshold():
    model = train(CLASSIFIER, two(training_rows()))
    model.set_probability_threshold(0.3)
    return model


X = training_rows()
REFUSED = {
    r"from text \('words'\)": of_texts,
    r"from embedding \('vector'\)": of_embeddings,
    r"categories of 'city' by statistics of the target .*one_hot_max_size": of_statistics,
    "MultiClassOneVsAll": lambda: train(CLASSIFIER, three(X), loss_function="MultiClassOneVsAll"),
    "RMSEWithUncertainty": lambda: train(REGRESSOR, signal(X), loss_function="RMSEWithUncertainty"),
    "MultiRMSE": lambda: train(REGRESSOR, X[:, :2], loss_function="MultiRMSE"),
    "probabilities above 0.3": with_threshold,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    with pytest.raises(UnsupportedModelError, match=words):
        Forest.from_model(REFUSED[words]())


def test_unfitted_models_are_refused():
    with pytest.raises(InvalidInputError, match="this CatBoostClassifier is not fitted"):
        Forest.from_model(CLASSIFIER())
    assert issubclass(UnsupportedModelError, BudgetPruneError)


def test_ranking_models_are_recognised():
    from budgetprune.forest import find_adapter

    for name, is_ranking in (
        (next(name for name in ZOO if "rank" in name.lower()), True),
        ("squared", False),
    ):
        model = build(name)[0]
        assert find_adapter(model).is_ranking_model(model) == is_ranking
