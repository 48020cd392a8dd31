"""Measures of probabilities, recall and precision, and costs of errors, compared with scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss, precision_score, recall_score, roc_auc_score

from budgetprune import InvalidInputError
from budgetprune.report import summarise, to_json
from budgetprune.report.measure.error_costs import ErrorPrices
from budgetprune.report.measure.probabilities import calibration
from budgetprune.utils.quality import area_under_curve

from ..models import case, models_of, summary_of

NAMES = ("cancer", "wine", "boosted")


@pytest.mark.parametrize("name", NAMES)
def test_points(name):
    found = case(name)
    for point, predictor in models_of(name, summary_of(name)):
        simulation, classes = predictor.simulate(found.X), predictor.forest.classes
        for outcome, given in (
            (point.full, predictor.predict_proba(found.X)),
            (point.decided, simulation.probabilities),
        ):
            measures = outcome.probabilities
            truth = np.searchsorted(classes, found.y)
            assert measures.log_loss == pytest.approx(log_loss(found.y, given, labels=classes), rel=1e-6)
            score = given[:, 1] if classes.size == 2 else given / given.sum(axis=1, keepdims=True)
            assert measures.auc == pytest.approx(roc_auc_score(truth, score, multi_class="ovr"))
            assert sum(each.n_rows for each in measures.calibration.bins) == len(found.y)
            gaps = [abs(each.predicted - each.observed) * each.n_rows for each in measures.calibration.bins]
            assert measures.calibration.error == pytest.approx(sum(gaps) / len(found.y))


@pytest.mark.parametrize("name", [*NAMES, "three classes", "two classes"])
def test_recall_and_precision(name):
    found, summary = case(name), summary_of(name)
    own = summary.points[summary.delivered]
    outcome = getattr(own, "outcome", None)
    outcome = own.decided if callable(outcome) else outcome
    answer, classes = found.predictor.simulate(found.X).label, found.predictor.forest.classes
    for average, name in ((recall_score, "recall"), (precision_score, "precision")):
        expected = average(found.y, answer, labels=classes, average=None, zero_division=0)
        shown = [getattr(each, name) or 0 for each in outcome.by_class]
        np.testing.assert_allclose(shown, expected)
    assert sum(each.n_rows for each in outcome.by_class) == len(found.y)


def test_staged_probabilities_are_those_where_rows_stop():
    found, summary = case("two classes"), summary_of("two classes")
    proba = found.predictor.simulate(found.X).probabilities
    measures = summary.points[summary.delivered].outcome.probabilities
    assert measures.auc == pytest.approx(roc_auc_score(found.y, proba[:, 1]), abs=1e-5)
    assert measures.log_loss == pytest.approx(log_loss(found.y, proba), rel=1e-5)


def test_one_class_has_no_area():
    truth, proba = np.zeros(4, dtype=np.int64), np.full((4, 2), 0.5)
    assert area_under_curve(truth, proba) is None
    found = case("cancer")
    is_benign = found.y == "benign"
    summary = summarise(found.model, found.X[is_benign], found.y[is_benign], n_examples=0)
    assert summary.points[0].full.probabilities.auc is None
    assert "– (one class)" in to_json(summary)["points"][0]["full"]["facts"]


def test_classes_that_no_row_has_are_left_out():
    truth = np.array([0, 0, 1, 1])
    proba = np.array([[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.2, 0.7, 0.1], [0.1, 0.4, 0.5]])
    expected = np.mean([roc_auc_score(truth == k, proba[:, k]) for k in (0, 1)])
    assert area_under_curve(truth, proba) == pytest.approx(expected)


def test_calibration():
    """Ten rows with a probability of .25, three of them right; four with 1, all right."""
    second = np.repeat([0.25, 1.0], [10, 4])
    truth = np.array([1] * 3 + [0] * 7 + [1] * 4)
    found = calibration(truth, np.column_stack([1 - second, second]), np.array(["no", "yes"]))
    assert found.label == "yes"
    assert [(each.predicted, each.n_rows) for each in found.bins] == [(0.25, 10), (1.0, 4)]
    assert [each.observed for each in found.bins] == pytest.approx([0.3, 1.0])
    assert found.error == pytest.approx(0.05 * 10 / 14)


def test_unknown_labels_have_no_probability():
    found = case("wine")
    y = found.y.astype(object)
    y[:5] = "Nero d'Avola"
    summary = summarise(found.model, found.X, y, n_examples=0)
    assert summary.points[0].full.probabilities.n_rows == len(y) - 5
    y[:] = "Nero d'Avola"
    y[0] = found.y[0]
    measures = summarise(found.model, found.X, y, n_examples=0).points[0].full.probabilities
    assert (measures.n_rows, measures.auc) == (1, None)


def test_costs_of_errors():
    found = case("cancer")
    costs = {"benign": 5, "malignant": 50}
    summary = summarise(found.model, found.X, found.y, n_examples=0, error_costs=costs)
    assert summary.error_costs == ((0, 5), (50, 0))
    for point, predictor in models_of("cancer", summary):
        matrix = confusion_matrix(found.y, predictor.predict(found.X))
        assert point.full.error_cost == pytest.approx((5 * matrix[0, 1] + 50 * matrix[1, 0]) / len(found.y))
    content = to_json(summary)
    assert content["error_prices"] == "A wrong answer costs 5 for benign and 50 for malignant."
    assert summary_of("cancer").points[0].full.error_cost is None
    diabetes = case("diabetes")
    priced = summarise(diabetes.model, diabetes.X, diabetes.y, n_examples=0, error_costs=0.01)
    whole = diabetes.model.path.forest.predict(diabetes.X)
    expected = 0.01 * np.mean((whole - diabetes.y) ** 2)
    assert priced.points[-1].full.error_cost == pytest.approx(expected)


def test_costs_of_errors_of_a_staged_model():
    """It has its own, or none."""
    summary, found = summary_of("three classes"), case("three classes")
    for point in summary.points:
        assert point.outcome.error_cost == pytest.approx(point.outcome.loss)
    with pytest.raises(InvalidInputError, match="error costs of its own"):
        summarise(found.model, found.X, found.y, error_costs=3)
    other = case("two classes")
    priced = summarise(other.model, other.X, other.y, error_costs=np.array([[0, 2], [1, 0]]))
    own = priced.points[priced.delivered].outcome
    (_, false_yes), (false_no, _) = own.confusion
    assert own.error_cost == pytest.approx((2 * false_yes + false_no) / len(other.y))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"no": 1.0}, "one number for each label of the model, 'no', 'yes'; 'yes' is missing or unknown"),
        (-1.0, "at least 0"),
        (np.zeros((3, 3)), "at least 0"),
        (float("nan"), "at least 0"),
    ],
)
def test_refused_costs_of_errors(costs, message):
    with pytest.raises(InvalidInputError, match=message):
        ErrorPrices.of(costs, np.array(["no", "yes"]))
    if not isinstance(costs, np.ndarray | dict):
        with pytest.raises(InvalidInputError, match="price of a unit of squared error"):
            ErrorPrices.of(costs, None)


def test_labels_that_are_numbers():
    prices = ErrorPrices.of({"0": 2, 1: 3}, np.array([0, 1]))
    np.testing.assert_array_equal(prices.matrix, [[0, 2], [3, 0]])
    assert replace(prices, squared=None).of_answers(np.array([0, 1]), np.array([1, 1])).tolist() == [2, 0]
