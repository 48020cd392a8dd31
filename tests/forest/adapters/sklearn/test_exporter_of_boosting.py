"""The way back to scikit-learn's gradient boosting, and what is said where there is none."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest


def as_columns(rows, case):
    return rows if case.forest.feature_names is None else type(case.X)(rows, columns=case.X.columns)


def answers(model, rows):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


def ours(forest, rows):
    return forest.predict_proba(rows) if forest.is_classifier else forest.predict(rows)


def sizes(model):
    if hasattr(model, "_predictors"):
        return [len(predictor.nodes) for one_round in model._predictors for predictor in one_round]
    return [tree.tree_.node_count for tree in model.estimators_.flat]


@pytest.fixture(params=["unpruned", "pruned", "roots"])
def pruned(request, boosted_case, prune_randomly):
    probability = {"unpruned": 1.0, "pruned": 0.8, "roots": 0.0}[request.param]
    return boosted_case.forest.prune(prune_randomly(boosted_case.forest, 0, probability))


def refit(forest):
    """Other values, as if the leaves had been refitted."""
    return replace(forest, value=forest.value + np.random.default_rng(0).normal(size=forest.value.shape))


@pytest.mark.parametrize("change", [lambda forest: forest, refit], ids=["as it was", "refitted"])
def test_predicts_the_same(boosted_case, pruned, change):
    case, forest = boosted_case, change(pruned)
    rows = as_columns(case.rows, case)
    model = forest.to_sklearn()
    assert type(model) is type(case.model)
    assert np.allclose(answers(model, rows), ours(forest, rows), rtol=1e-12, atol=1e-12)
    if forest.is_classifier:
        assert np.array_equal(model.predict(rows), forest.predict(rows))


def test_what_was_not_changed_stays_bit_for_bit(boosted_case):
    model = boosted_case.forest.to_sklearn()
    rows = as_columns(boosted_case.rows, boosted_case)
    assert np.array_equal(answers(model, rows), answers(boosted_case.model, rows))


def test_holds_only_the_nodes_that_are_left(pruned):
    model = pruned.to_sklearn()
    assert sizes(model) == np.diff(pruned.tree_start).tolist()
    for nodes in (p.nodes for one_round in getattr(model, "_predictors", []) for p in one_round):
        is_leaf = nodes["is_leaf"] == 1
        assert not any(nodes[name][is_leaf].any() for name in ("left", "right", "feature_idx", "bitset_idx"))
        assert (nodes["gain"][~is_leaf] > 0).all()


def test_comes_back_as_it_went(boosted_case, pruned):
    again = Forest.from_model(pruned.to_sklearn())
    for name in ("tree_start", "parent", "left", "right", "feature", "weight", "missing_left", "base"):
        assert np.array_equal(getattr(again, name), getattr(pruned, name)), name
    assert np.array_equal(again.threshold, pruned.threshold, equal_nan=True)
    leaves = ~pruned.is_split
    assert np.allclose(again.value[leaves], pruned.value[leaves], rtol=1e-14, atol=0)


def test_origin_stays_as_it_was_and_copies_pickle(boosted_case, pruned):
    before = pickle.dumps(boosted_case.model)
    model = pruned.to_sklearn()
    assert pickle.dumps(boosted_case.model) == before
    rows = as_columns(boosted_case.rows, boosted_case)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(answers(twin, rows), answers(model, rows))


def test_figures_of_the_unpruned_model_are_gone(get_case):
    model = get_case("boosting, samples").forest.to_sklearn()
    assert not any(hasattr(model, name) for name in ("oob_score_", "oob_scores_", "oob_improvement_"))
    assert np.isnan(model.train_score_).all()
    hist = get_case("hist, early end").forest.to_sklearn()
    assert np.isnan(hist.validation_score_).all()


@pytest.mark.parametrize(("name", "n_rounds"), [("boosting", "n_estimators"), ("hist", "max_iter")])
def test_boosting_can_go_on_from_a_pruned_model(get_case, prune_randomly, name, n_rounds):
    case = get_case(name)
    forest = case.forest.prune(prune_randomly(case.forest, 0))
    model = forest.to_sklearn().set_params(**{n_rounds: 10, "warm_start": True}).fit(case.X, case.y)
    grown = Forest.from_model(model)
    assert grown.n_trees == 10
    assert np.array_equal(np.diff(grown.tree_start)[:8], np.diff(forest.tree_start))


@pytest.mark.parametrize("name", ["boosting, three classes", "hist", "random forest"])
def test_another_divisor_is_folded_into_the_values(get_case, name):
    case = get_case(name)
    own = case.forest
    forest = replace(own, value=3 * own.value, base=3 * own.base, divisor=3 * own.divisor)
    assert np.allclose(forest.to_sklearn().predict_proba(case.rows), case.model.predict_proba(case.rows))


def test_other_links_and_bases_are_refused(get_case):
    for name in ("boosting, three classes", "hist, three classes"):
        forest = get_case(name).forest
        with pytest.raises(UnsupportedModelError, match=r"has a softmax link.*identity"):
            replace(forest, link="identity", loss=None).to_sklearn()
        with pytest.raises(UnsupportedModelError, match="base score"):
            replace(forest, base=forest.base + 1).to_sklearn()


def test_a_random_forest_refitted_to_another_link_is_told_what_to_do(get_case):
    forest = replace(get_case("random forest").forest, link="softmax", divisor=1.0)
    with pytest.raises(UnsupportedModelError, match=r"softmax.*refit='squared'.*to_onnx\(\)"):
        forest.to_sklearn()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_other_libraries_have_their_own_way_back(get_case, library):
    origin = type("Booster", (), {"__module__": f"{library}.core"})()
    with pytest.raises(UnsupportedModelError, match=rf"convert it back with to_{library}\(\)"):
        replace(get_case("tree").forest, origin=origin).to_sklearn()
