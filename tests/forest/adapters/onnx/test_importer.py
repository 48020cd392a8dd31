"""ONNX models as forests: onnxruntime must answer as the forest does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxmltools
import pytest
import xgboost as xgb
from onnx import TensorProto, numpy_helper
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

from ...conftest import targets, training_rows
from ..refusals import refuse
from .converted import CONVERTED, NAMES, converted, near_thresholds, two
from .models import check, regressor

# --- Models of converters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONVERTED)
def test_converted_models(name):
    model = converted(name)
    forest = Forest.from_model(model)
    # Sums are in single precision there.
    check(model, near_thresholds(forest), 1e-5)
    assert forest.origin is model
    assert forest.loss is not None or not forest.is_boosted
    assert forest.is_boosted == (not ("forest" in name or "tree" in name))


def test_rounds_and_outputs():
    forest = Forest.from_model(converted("boosting, three classes"))
    np.testing.assert_array_equal(forest.tree_round, np.repeat(np.arange(5), 3))
    np.testing.assert_array_equal(forest.tree_output, np.tile(np.arange(3), 5))
    assert forest.classes.tolist() == [3, 7, 11]
    assert Forest.from_model(converted("lightgbm, poisson")).loss == "poisson"


def test_inputs_are_features():
    assert Forest.from_model(converted("forest, named inputs")).feature_names == NAMES
    assert Forest.from_model(converted("forest")).feature_names is None


def test_categories_of_xgboost():
    """Sets of categories are chains of tests for equality there, which share nodes."""
    X = training_rows()[:, :3]
    X[:, 1] = np.random.default_rng(0).integers(0, 40, len(X))
    model = xgb.XGBRegressor(n_estimators=6, feature_types=["q", "c", "q"], enable_categorical=True)
    model.fit(X, (X[:, 1] % 5 + X[:, 0]))
    made = onnxmltools.convert_xgboost(model, initial_types=[("input", FloatTensorType([None, 3]))])
    rows = np.tile(X, (4, 1)).astype(np.float32)
    rows[:150, 1] = np.random.default_rng(1).integers(0, 90, 150)
    rows[150:200, 1] = np.nan
    forest = check(made, rows, 1e-5)
    sizes = np.diff(forest.category_start)
    assert sizes.size == (forest.category_set >= 0).sum() > 10
    words = np.unpackbits(forest.category_bits.view(np.uint8)).sum()
    assert words > 2 * sizes.size  # of several categories each
    direct = Forest.from_model(model)
    assert direct.n_splits == forest.n_splits
    np.testing.assert_allclose(direct.scores(rows), forest.scores(rows), atol=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "random forest",
        "random forest, two classes",
        "random forest, one class",
        "random forest, single nodes",
        "random forest, missing",
        "regression forest",
        "boosting",
        "boosting, three classes",
        "hist",
        "hist, three classes",
        "hist, poisson",
        "boosting, squared",
    ],
)
def test_exported_forests_come_back(get_case, name):
    case = get_case(name)
    exported = case.forest.to_onnx()
    forest = Forest.from_model(exported)
    rows = case.rows.astype(np.float32)
    check(exported, rows, 1e-5)
    np.testing.assert_array_equal(forest.apply(rows), case.forest.apply(rows))
    np.testing.assert_allclose(forest.scores(rows), case.forest.scores(rows), rtol=1e-12, atol=1e-12)
    assert (forest.link, forest.is_boosted) == (case.forest.link, case.forest.is_boosted)
    same_rule = {"nonnegative": "nonnegative", "positive": "positive"}
    assert forest.label_rule == same_rule.get(case.forest.label_rule, "argmax")


def test_labels_by_rounded_probabilities_come_back(get_case):
    for dtype in (np.float32, np.float64):
        forest = replace(get_case("hist").forest, label_rule="likeliest", label_dtype=np.dtype(dtype))
        again = Forest.from_model(forest.to_onnx())
        assert (again.label_rule, again.label_dtype) == ("likeliest", dtype)


# --- Weights ------------------------------------------------------------------------------------------------


def test_weights_are_unknown():
    forest = Forest.from_model(converted("regression boosting"))
    assert not forest.weight.any()
    split = np.flatnonzero(forest.is_split)
    mean = (forest.value[forest.left[split]] + forest.value[forest.right[split]]) / 2
    np.testing.assert_allclose(forest.value[split], mean)


@pytest.mark.parametrize(
    "name", ["forest, two classes", "boosting", "regression forest", "lightgbm, squared"]
)
def test_they_can_be_pruned(name):
    X = training_rows()
    is_regression = "regression" in name or "squared" in name
    kind, y = (BudgetPruneRegressor, targets(X)) if is_regression else (BudgetPruneClassifier, two(X))
    model = converted(name)
    ours = kind(FrozenEstimator(model), budget=2.5, random_state=0).fit(X, y)
    assert ours.acquisition_cost(X).mean() <= 2.5
    whole = Forest.from_model(model)
    assert 0 < ours.path_.forest.prune(ours.path_.at(budget=2.5).keep).n_splits < whole.n_splits
    assert ours.score(X, y) > 0.3


# --- Files --------------------------------------------------------------------------------------------------


def test_files_and_their_content(tmp_path):
    model = converted("forest")
    file = tmp_path / "model.ONNX"
    file.write_bytes(model.SerializeToString())
    expected = Forest.from_model(model).scores(training_rows())
    for given in (file, str(file), file.read_bytes()):
        np.testing.assert_array_equal(Forest.from_model(given).scores(training_rows()), expected)
    with pytest.raises(InvalidInputError, match=r"reads \.onnx files, not 'model\.txt'"):
        Forest.from_model(Path("model.txt"))
    refuse(b"no model", "it is not an ONNX model")


def test_tensors_in_other_files_are_not_read(tmp_path):
    model = regressor()
    onnx.load_model(onnx.save_model(model, tmp_path / "a.onnx") or tmp_path / "a.onnx")
    tensor = numpy_helper.from_array(np.zeros(2, dtype=np.float32), "outside")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    model.graph.initializer.append(tensor)
    with pytest.raises(UnsupportedModelError, match="'outside' of this ONNX model is stored in another file"):
        Forest.from_model(model)


def test_onnx_is_optional():
    program = "import sys; sys.modules['onnx'] = None; import budgetprune.forest.adapters"
    subprocess.run([sys.executable, "-c", program], check=True)
    program += "\nfrom budgetprune import Forest\nForest.from_model(b'')"
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "needs onnx: pip install 'budgetprune[onnx]'" in failed.stderr
