"""Displays of staged models."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from budgetprune import BudgetClassifier, BudgetPruneClassifier, BudgetRegressor, InvalidInputError
from budgetprune.plotting import StagesDisplay, TradeoffDisplay

mpl.use("agg")


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = BudgetClassifier(budget=3.0, learner="lightgbm", time_limit=1.0, random_state=0)
    return model.fit(X[::2], y[::2]), X[1::2], y[1::2]


def test_stages(fitted):
    model = fitted[0]
    display = StagesDisplay.from_estimator(model)
    stages = model.stages_
    for name in ("reached", "stops"):
        widths = [bar.get_width() for bar in display.bars_[name]]
        np.testing.assert_allclose(widths, [100 * getattr(stage, name) for stage in stages])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == "nothing bought"
    assert stages[1].sources[0] in labels[1]
    # The first stage is on top.
    heights = [bar.get_y() for bar in display.bars_["stops"]]
    assert heights == sorted(heights, reverse=True)


def test_trade_off_of_cross_fitting(fitted):
    model = fitted[0]
    display = TradeoffDisplay.from_estimator(model)
    line = display.lines_["BudgetClassifier"]
    np.testing.assert_array_equal(line.get_xdata(), model.tradeoff_.cost)
    np.testing.assert_array_equal(line.get_ydata(), model.tradeoff_.score)
    cost, score = display.curves["BudgetClassifier"].chosen
    assert cost <= 3.0
    assert (cost, score) == (
        model.tradeoff_.cost[model.model_.point],
        model.tradeoff_.score[model.model_.point],
    )
    assert display.ax_.get_xlabel() == "average cost of a prediction"


def test_trade_off_on_other_rows(fitted):
    model, X, y = fitted
    curve = TradeoffDisplay.from_estimator(model, X, y, n_points=4).curves["BudgetClassifier"]
    assert len(curve.cost) <= 4
    assert curve.chosen == (pytest.approx(model.acquisition_cost(X).mean()), pytest.approx(model.score(X, y)))


def test_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BudgetRegressor(learner="lightgbm", time_limit=0.0, random_state=0).fit(X, y)
    display = TradeoffDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "R²"
    assert len(StagesDisplay.from_estimator(model).bars_["stops"]) == len(model.stages_)


def test_what_cannot_be_shown():
    with pytest.raises(NotFittedError):
        StagesDisplay.from_estimator(BudgetClassifier())
    with pytest.raises(InvalidInputError, match="has no stages"):
        StagesDisplay.from_estimator(BudgetPruneClassifier())
    with pytest.raises(InvalidInputError, match="nothing to show"):
        StagesDisplay([])
