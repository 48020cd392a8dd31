"""Displays show what was fitted."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError

from budgetprune import (
    BudgetPruneClassifier,
    BudgetPruneRegressor,
    Forest,
    InvalidInputError,
    PruningProblem,
)
from budgetprune.plotting import Curve, FeatureUsageDisplay, TradeoffDisplay

mpl.use("agg")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X.iloc[order], y.iloc[order]


@pytest.fixture(scope="module")
def fitted(wine):
    X, y = wine
    costs = dict(zip(X.columns, np.arange(1.0, 14.0), strict=True))
    estimator = BudgetPruneClassifier(
        RandomForestClassifier(10), costs=costs, budget=15, refit=None, error="in-bag", random_state=0
    )
    return estimator.fit(X[:130], y[:130])


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_the_curve_is_the_estimators_own_trade_off(fitted, ax):
    display = TradeoffDisplay.from_estimator(fitted, ax=ax, linestyle="--")
    line = display.lines_["BudgetPruneClassifier"]
    np.testing.assert_array_equal(line.get_xdata(), fitted.tradeoff_.cost)
    np.testing.assert_array_equal(line.get_ydata(), fitted.tradeoff_.score)
    assert line.get_linestyle() == "--"
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("average full cost of a prediction", "accuracy")
    assert display.curves["BudgetPruneClassifier"].chosen[0] == pytest.approx(fitted.cost_)


def test_on_rows_of_ones_own_every_point_is_a_model(fitted, wine, ax):
    X, y = wine[0][130:], wine[1][130:]
    display = TradeoffDisplay.from_estimator(fitted, X, y, n_points=4, name="ours", ax=ax)
    curve = display.curves["ours"]
    assert curve.cost.size == 4
    first = fitted.with_budget(float(fitted.tradeoff_.cost[0]))
    assert curve.cost[0] == pytest.approx(first.acquisition_cost(X).mean())
    assert curve.value[0] == first.score(X, y)
    assert curve.chosen == (fitted.acquisition_cost(X).mean(), fitted.score(X, y))


def test_paths_side_by_side(wine, ax):
    X, y = wine
    paths = {}
    for n_trees in (3, 6):
        model = RandomForestClassifier(n_trees, random_state=0).fit(X[:90], y[:90])
        paths[f"{n_trees} trees"] = PruningProblem(Forest.from_model(model), X[90:]).path()
    display = TradeoffDisplay.from_paths(paths, ax=ax)
    assert list(display.lines_) == list(paths)
    for name, path in paths.items():
        np.testing.assert_array_equal(display.lines_[name].get_xdata(), path.cost)
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), path.error)
        assert display.curves[name].unpruned == (path.unpruned.cost, path.unpruned.error)
    assert display.lines_["3 trees"].get_color() != display.lines_["6 trees"].get_color()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["3 trees", "3 trees, unpruned", "6 trees", "6 trees, unpruned"]


def test_bars_are_the_shares_of_rows_that_buy(fitted, wine, ax):
    X = wine[0][130:]
    display = FeatureUsageDisplay.from_estimator(fitted, X, n_sources=None, ax=ax)
    np.testing.assert_allclose(display.after, fitted.sources_used(X).mean(axis=0))
    assert display.after @ display.price == pytest.approx(fitted.acquisition_cost(X).mean())
    assert np.all(display.after <= display.before)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    widths = dict(zip(labels, [bar.get_width() for bar in display.bars_["after"]], strict=True))
    assert widths["alcohol  (1)"] == pytest.approx(100 * display.after[0])
    # Most money on top.
    money = display.after * display.price
    assert labels[-1].startswith(X.columns[money.argmax()])
    few = FeatureUsageDisplay.from_estimator(fitted, X, n_sources=3, ax=ax)
    assert len(few.bars_["before"]) == 3


def test_usage_of_two_forests(wine, ax):
    X, y = wine
    forest = Forest.from_model(RandomForestClassifier(4, random_state=0).fit(X[:90], y[:90]))
    path = PruningProblem(forest, X[90:]).path()
    pruned = path.at(budget=2.0)
    display = FeatureUsageDisplay.from_forests(forest, pruned.forest, X[90:], ax=ax)
    assert display.before.sum() == pytest.approx(path.unpruned.cost)
    assert display.after.sum() == pytest.approx(pruned.cost)
    assert ax.get_title(loc="left").startswith("average cost")


def test_regression_and_axes_of_its_own():
    import matplotlib.pyplot as plt

    X, y = load_diabetes(return_X_y=True)
    estimator = BudgetPruneRegressor(
        RandomForestRegressor(5, max_depth=4), budget=4, refit=None, error="in-bag", random_state=0
    ).fit(X, y)
    display = TradeoffDisplay.from_estimator(estimator)
    assert display.ax_.get_ylabel() == "R²"
    plt.close(display.figure_)


def test_what_makes_no_sense(fitted, wine, ax):
    with pytest.raises(NotFittedError):
        TradeoffDisplay.from_estimator(BudgetPruneClassifier())
    with pytest.raises(InvalidInputError, match="X and y belong together"):
        TradeoffDisplay.from_estimator(fitted, wine[0])
    with pytest.raises(InvalidInputError, match="'a' is a int"):
        TradeoffDisplay.from_paths({"a": 3})
    with pytest.raises(InvalidInputError, match="nothing to show"):
        TradeoffDisplay({})
    with pytest.raises(InvalidInputError, match="before must have one entry"):
        FeatureUsageDisplay(["a", "b"], [1, 1], [0.5], [0.5, 0.5])
    assert TradeoffDisplay({"x": Curve(np.ones(2), np.ones(2))}).plot(ax).lines_.keys() == {"x"}
