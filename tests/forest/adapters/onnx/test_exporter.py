"""Forests as ONNX models: onnxruntime must answer as the forest does."""

import sys
from dataclasses import replace

import lightgbm as lgb
import numpy as np
import onnxruntime
import pytest
import xgboost as xgb

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest import Forest

AVERAGED = [
    "random forest",
    "random forest, two classes",
    "random forest, one class",
    "random forest, single nodes",
    "random forest, missing",
    "random forest, best first",
    "extra trees, missing",
    "tree",
    "bag, drawn columns, missing",
    "bag, missing classes",
    "regression forest",
    "regression extra trees",
    "regression bag",
]


def run(forest, rows):
    session = onnxruntime.InferenceSession(forest.to_onnx().SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def check(forest, rows):
    """The same labels, except where single precision cannot tell the classes apart; the same numbers."""
    rows = rows.astype(np.float32)
    output = run(forest, rows)
    if forest.classes is None:
        assert output["variable"].shape == (len(rows), 1)
        assert np.allclose(output["variable"][:, 0], forest.predict(rows), rtol=1e-5, atol=1e-6)
        return
    assert np.allclose(output["probabilities"], forest.predict_proba(rows), rtol=0, atol=1e-5)
    scores = np.sort(forest.scores(rows), axis=1)
    margin = np.abs(scores[:, 0]) if scores.shape[1] == 1 else scores[:, -1] - scores[:, -2]
    if forest.classes.size == 1:
        margin[:] = 1.0
    differs = output["label"] != forest.predict(rows)
    assert not differs[margin > 1e-6].any()
    assert differs.mean() <= 0.001


@pytest.mark.parametrize("probability", [1.0, 0.8, 0.0], ids=["unpruned", "pruned", "roots"])
@pytest.mark.parametrize("name", AVERAGED)
def test_averaged_trees(get_case, prune_randomly, name, probability):
    case = get_case(name)
    check(case.forest.prune(prune_randomly(case.forest, 0, probability)), case.rows)


def test_boosted_trees(boosted_case, prune_randomly):
    case = boosted_case
    check(case.forest, case.rows)
    check(case.forest.prune(prune_randomly(case.forest, 0)), case.rows)


@pytest.mark.parametrize(
    "model",
    [
        xgb.XGBClassifier(n_estimators=6, n_jobs=1),
        lgb.LGBMClassifier(n_estimators=6, n_jobs=1, verbose=-1),
        lgb.LGBMRegressor(n_estimators=6, objective="poisson", n_jobs=1, verbose=-1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_libraries(get_case, model):
    case = get_case("random forest, missing")
    check(Forest.from_model(model.fit(case.X, case.y)), case.rows)


@pytest.mark.parametrize("link", ["softmax", "identity"])
def test_refitted_forests_that_have_no_way_back(get_case, link):
    case = get_case("random forest")
    value = np.random.default_rng(0).normal(size=case.forest.value.shape)
    forest = replace(case.forest, value=value, link=link, base=np.array([0.1, -0.2, 0.3]), divisor=2.0)
    check(forest, case.rows)


def test_rows_go_where_they_go_in_the_forest_also_next_to_thresholds(get_case):
    """Thresholds between two numbers of single precision would be lost in it."""
    case = get_case("hist, squared")
    forest = case.forest
    leaf_number = np.arange(forest.n_nodes, dtype=np.float64)[:, np.newaxis]
    split = np.flatnonzero(forest.is_split & np.isfinite(forest.threshold))
    near = forest.threshold[split].astype(np.float32)
    steps = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    rows = np.tile(case.rows.astype(np.float32), (10, 1))[: 3 * split.size]
    rows[np.arange(3 * split.size), np.tile(forest.feature[split], 3)] = np.concatenate(steps)
    # One tree at a time, whose answer is the number of the leaf.
    reached = forest.apply(rows)
    for t in range(forest.n_trees):
        value = np.where(forest.tree_of_node[:, np.newaxis] == t, leaf_number, 0.0)
        output = run(replace(forest, value=value, base=np.zeros(1)), rows)
        assert np.array_equal(output["variable"][:, 0], reached[:, t])


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (np.array(["a", "b", "c"]), object),
        (np.array(["a", "b", "c"], dtype=object), object),
        (np.array([1, 2, 5], dtype=np.int8), np.int64),
        (np.array([0.5, 1.5, 2.5]), np.float64),
    ],
)
def test_labels_of_any_type(get_case, classes, dtype):
    case = get_case("random forest")
    rows = case.rows.astype(np.float32)
    label = run(replace(case.forest, classes=classes), rows)["label"]
    assert label.dtype == dtype
    assert set(label) <= set(classes)
    assert np.mean(label == replace(case.forest, classes=classes).predict(rows)) > 0.99


def test_the_graph_has_the_name_it_was_given(get_case):
    assert get_case("tree").forest.to_onnx("credit").graph.name == "credit"


def test_what_onnx_cannot_express_is_refused(get_case):
    forest = get_case("hist").forest
    by_category = replace(
        forest,
        threshold=np.full(forest.n_nodes, np.nan),
        category_set=np.where(forest.is_split, 0, -1),
        category_start=np.array([0, 1]),
        category_bits=np.array([5]),
    )
    with pytest.raises(UnsupportedModelError, match="by category"):
        by_category.to_onnx()
    with pytest.raises(UnsupportedModelError, match="zeros as missing"):
        replace(forest, missing="nan-or-zero").to_onnx()
    with pytest.raises(UnsupportedModelError, match="no type for labels"):
        replace(forest, classes=np.array([(1, 2), None], dtype=object)).to_onnx()


def test_without_onnx_the_error_says_what_to_install(get_case, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "budgetprune.forest.adapters.onnx.exporter", raising=False)
    with pytest.raises(ImportError, match=r"budgetprune\[onnx\]"):
        get_case("tree").forest.to_onnx()
