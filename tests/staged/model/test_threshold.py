"""Thresholds of staged classifiers: their labels, their stages and their files."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import BudgetClassifier, BudgetPredictor, InvalidInputError
from budgetprune.staged import StagedPredictor
from budgetprune.staged.model.objective import ErrorCostObjective, ThresholdObjective

from ..conftest import COSTS, X_TEST, X_TRAIN, Y_TRAIN, fitted


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 0.7, 1.0])
def test_labels_of_probabilities(threshold):
    """The second class from the threshold on, even where rounding makes expected costs tie."""
    second = np.array([0.0, 0.1, np.nextafter(0.3, 0), 0.3, 0.5, 0.7, np.nextafter(0.7, 1), 1.0])
    outputs = np.column_stack([1 - second, second])
    rule = ThresholdObjective(threshold)
    assert rule.answers(outputs).tolist() == (second >= threshold).astype(int).tolist()
    by_costs = ErrorCostObjective(rule.cost)
    away = np.abs(second - threshold) > 1e-9
    assert by_costs.answers(outputs)[away].tolist() == rule.answers(outputs)[away].tolist()


def test_another_threshold_changes_labels_only(classifier, tmp_path):
    plain = classifier.with_budget(4).predictor()
    before = plain.simulate(X_TEST)
    second = before.probabilities[:, 1]
    threshold = float(np.sort(second)[40])  # a row exactly on it
    predictor = plain.with_threshold(threshold)
    found = predictor.simulate(X_TEST)
    assert np.array_equal(found.acquired, before.acquired)
    assert found.label.tolist() == (second >= threshold).tolist()
    assert found.label.tolist() != before.label.tolist()
    assert predictor.predict(X_TEST).tolist() == (plain.predict_proba(X_TEST)[:, 1] >= threshold).tolist()
    row = X_TEST.iloc[3].to_dict()
    assert predictor.decide(row).label == found.label[3]
    assert predictor.decide(lambda s: {f: row[f] for f in predictor.features_of(s)}).label == found.label[3]
    assert predictor.with_budget(8).threshold == threshold
    assert not predictor.model.has_error_costs
    predictor.save(tmp_path / "model")
    loaded = BudgetPredictor.load(tmp_path / "model")
    assert isinstance(loaded, StagedPredictor)
    assert loaded.threshold == threshold
    assert loaded.simulate(X_TEST).label.tolist() == found.label.tolist()
    assert np.array_equal(loaded.simulate(X_TEST).acquired, before.acquired)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_threshold_in_training(tmp_path):
    model = BudgetClassifier(COSTS, threshold=0.2, cv=3, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    assert model.predict(X_TEST).tolist() == (model.predict_proba(X_TEST)[:, 1] >= 0.2).tolist()
    predictor = model.predictor()
    assert predictor.threshold == 0.2
    predictor.save(tmp_path / "model")
    loaded = BudgetPredictor.load(tmp_path / "model")
    for found in (predictor, loaded):
        assert found.simulate(X_TEST).label.tolist() == model.predict(X_TEST).tolist()
        assert np.array_equal(found.simulate(X_TEST).cost, model.acquisition_cost(X_TEST))


@pytest.mark.parametrize(
    ("kind", "threshold", "words"),
    [
        ("two classes", 1.5, "threshold must be a number between 0 and 1, not 1.5"),
        ("two classes", "half", "threshold must be a number between 0 and 1, not 'half'"),
        ("three classes", 0.5, "threshold decides between two classes, but there are 3"),
        ("regression", 0.5, "threshold decides between two classes, but the target holds numbers"),
    ],
)
def test_invalid_thresholds(kind, threshold, words):
    with pytest.raises(InvalidInputError, match=words):
        fitted(kind).predictor().with_threshold(threshold)


def test_error_costs_and_a_threshold():
    model = BudgetClassifier(COSTS, threshold=0.2, error_costs=5)
    with pytest.raises(InvalidInputError, match="error_costs or a threshold, not both"):
        model.fit(X_TRAIN, Y_TRAIN > 0)
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        BudgetClassifier(COSTS, threshold=1.0).fit(X_TRAIN, Y_TRAIN > 0)
    model = BudgetClassifier(COSTS, error_costs=50, cv=2, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    with pytest.raises(InvalidInputError, match="trained with costs of errors"):
        model.predictor().with_threshold(0.2)
