"""Yggdrasil's models as forests: the same answers and labels, and weights of nodes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import ZOO, build, fitted, own_answers, signal, training_rows, ydf

every_model = pytest.mark.parametrize("name", ZOO)


@every_model
def test_answers_are_the_librarys(name):
    model, forest, rows = build(name)
    own, labels = own_answers(model, rows)
    if labels is None:
        # Yggdrasil adds up in single precision.
        np.testing.assert_allclose(forest.predict(rows), own, rtol=1e-6, atol=1e-6)
        return
    probabilities = forest.predict_proba(rows)
    ours = probabilities[:, 1] if own.ndim == 1 else probabilities
    np.testing.assert_allclose(ours, own, rtol=0, atol=1e-6)
    # Yggdrasil writes all labels as strings.
    np.testing.assert_array_equal(np.char.lower(forest.predict(rows).astype(str)), labels)
    assert np.unique(labels).size == forest.classes.size


def with_target(model, rows):
    """Add the columns that only training reads."""
    label = rows["grade"] if model.task() != ydf.Task.CLASSIFICATION else model.label_classes()[0]
    return rows.assign(target=label, query=0)


@every_model
def test_leaves_are_the_librarys(name):
    """Yggdrasil numbers leaves from the side of failed tests."""
    model, forest, rows = build(name)
    ours, theirs = forest.apply(rows), model.predict_leaves(with_target(model, rows))
    for t in range(forest.n_trees):
        pairs = set(zip(ours[:, t].tolist(), theirs[:, t].tolist(), strict=True))
        assert len(pairs) == np.unique(ours[:, t]).size == np.unique(theirs[:, t]).size


def test_equal_votes_are_decided_as_yggdrasil_rounds():
    """The share of half of 38 trees is below 1/2 in single precision, that of 6 trees is not."""
    for name, rule, label in (("forest of 38 trees", "argmax", "no"), ("forest", "nonnegative", "yes")):
        model, forest, rows = build(name)
        is_tied = np.isclose(forest.predict_proba(rows)[:, 1], 0.5)
        assert is_tied.sum() > 3
        assert forest.label_rule == rule
        assert set(forest.predict(rows[is_tied])) == set(model.predict_class(rows[is_tied])) == {label}


def test_labels_have_the_type_of_the_training_column():
    kinds = {"forest": "U", "logistic": "i", "softmax": "i", "forest of booleans": "b"}
    for name, kind in kinds.items():
        assert build(name)[1].classes.dtype.kind == kind
    np.testing.assert_array_equal(build("softmax")[1].classes, [0, 10, 20])


def test_weights_are_those_of_the_training_rows():
    model = fitted("RandomForest", "three", bootstrap_training_dataset=False)()
    forest, rows = Forest.from_model(model), training_rows()
    leaves = forest.apply(rows)
    expected = np.zeros((forest.n_nodes, 3))
    target = np.digitize(signal(rows), [0.4, 1.4])
    for tree in leaves.T:
        np.add.at(expected, (tree, target), 1)
    is_leaf = ~forest.is_split
    np.testing.assert_array_equal(forest.class_weight[is_leaf], expected[is_leaf])
    np.testing.assert_array_equal(forest.weight, forest.class_weight.sum(axis=1))


def test_variance_is_that_of_the_training_rows():
    model = fitted("RandomForest", "numbers", bootstrap_training_dataset=False)()
    forest, rows = Forest.from_model(model), training_rows()
    target = signal(rows).astype(np.float32).astype(float)
    leaves = forest.apply(rows)
    for h in np.unique(leaves).tolist():
        assert forest.variance[h] == pytest.approx(target[(leaves == h).any(axis=1)].var(), abs=1e-5)
    root = forest.tree_start[:-1]
    np.testing.assert_allclose(forest.variance[root], target.var(), rtol=1e-6)
    np.testing.assert_allclose(forest.value[root, 0], target.mean(), rtol=1e-5)


def test_models_that_keep_no_inner_values_have_the_mean_of_the_leaves():
    full, little = build("logistic, second order")[1], build("logistic, that keeps little")[1]
    for forest in (full, little):
        split = np.flatnonzero(forest.is_split)
        total = forest.weight[:, np.newaxis] * forest.value
        np.testing.assert_allclose(
            forest.weight[split], forest.weight[forest.left[split]] + forest.weight[forest.right[split]]
        )
        means = (total[forest.left[split]] + total[forest.right[split]]) / forest.weight[split, np.newaxis]
        is_mean = np.allclose(forest.value[split], means)
        assert is_mean == (forest is little)


@pytest.mark.parametrize("name", ["forest", "softmax", "forest of numbers", "forest of three labels"])
def test_they_can_be_pruned(name):
    model, whole, _ = build(name)
    table = training_rows()
    s = signal(table)
    kind, y = BudgetPruneClassifier, np.where(s > 0.9, "yes", "no")
    if name == "forest of numbers":
        kind, y = BudgetPruneRegressor, s
    elif whole.classes.size == 3:
        y = np.digitize(s, [0.4, 1.4]) * 10
    ours = kind(FrozenEstimator(model), budget=2.5, random_state=0).fit(table, y)
    assert ours.acquisition_cost(table).mean() <= 2.5
    assert 0 < ours.forest_.n_splits < whole.n_splits


def test_early_decisions_have_the_labels_of_the_whole_forest():
    for name in ("forest", "forest of 38 trees"):
        _, forest, rows = build(name)
        from budgetprune import BudgetPredictor, FeatureCosts

        predictor = BudgetPredictor(forest, FeatureCosts(np.ones(5)))
        simulated = predictor.simulate(rows)
        np.testing.assert_array_equal(simulated.label, forest.predict(rows))
        assert simulated.cost.mean() < 5


def test_ydf_is_optional():
    program = "import sys; sys.modules['ydf'] = None; import budgetprune.forest.adapters"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_they_are_not_written():
    with pytest.raises(UnsupportedModelError, match="does not write models of Yggdrasil"):
        build("logistic")[1].to_model()


# --- Refusals -----------------------------------------------------------------------------------------------


def of_sets():
    words = np.empty(300, dtype=object)
    words[:] = [["red", "round"], ["red"], ["blue"]] * 100
    data = {"words": words, "y": np.arange(300) % 3}
    return ydf.RandomForestLearner(label="y", num_trees=2).train(data)


def of_effects():
    table = training_rows()[["age", "size"]].assign(y=np.arange(300) % 3 % 2, treated=np.arange(300) % 2)
    learner = ydf.RandomForestLearner(
        label="y", uplift_treatment="treated", task=ydf.Task.CATEGORICAL_UPLIFT, num_trees=2
    )
    return learner.train(table)


def of_anomalies():
    return ydf.IsolationForestLearner(num_trees=2).train(training_rows()[["age", "size"]])


def with_logits():
    model = fitted("GradientBoostedTrees", "two")()
    model.set_output_logits(True)
    return model


REFUSED = {
    r"oblique splits, which test a sum of several features \('\w+'": fitted(
        "RandomForest", "two", split_axis="SPARSE_OBLIQUE"
    ),
    r"'words' \(CATEGORICAL_SET\)": of_sets,
    "task=CATEGORICAL_UPLIFT": of_effects,
    "cannot turn a ydf.IsolationForestModel": of_anomalies,
    r"set_output_logits\(False\)": with_logits,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    with pytest.raises(UnsupportedModelError, match=words):
        Forest.from_model(REFUSED[words]())


class Stub:
    """A model that serialises to other bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def serialize(self) -> bytes:
        return self.content


Stub.__module__, Stub.__name__, Stub.__qualname__ = "ydf.model", *["RandomForestModel"] * 2


def test_damaged_models_are_refused():
    genuine = build("forest of three labels")[0].serialize()
    assert Forest.from_model(Stub(genuine)).n_trees == 6
    rng = np.random.default_rng(0)
    damaged = [b"", b"BS", genuine[: len(genuine) // 2], genuine[:-1], genuine[:4] + b"\7" + genuine[5:]]
    for _ in range(60):
        content = bytearray(genuine)
        for place in rng.integers(0, len(content), 3):
            content[place] = rng.integers(256)
        damaged.append(bytes(content))
    refused = 0
    for content in damaged:
        try:
            Forest.from_model(Stub(content)).predict(training_rows())
        except (InvalidInputError, UnsupportedModelError):
            refused += 1
    assert refused > 10


def test_columns_that_are_missing_are_named():
    with pytest.raises(InvalidInputError, match="'city'"):
        build("forest")[1].predict(pd.DataFrame({"age": [1.0]}))
