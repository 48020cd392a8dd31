"""Decided costs along a path: simulated where somebody asks, and searched with few simulations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune import (
    BudgetPredictor,
    BudgetWarning,
    FeatureCosts,
    Forest,
    InvalidInputError,
    PruningProblem,
)

COSTS = FeatureCosts([1, 1, 2, 0.5, 1, 1, 1, 0])


def problem_and_rows(n_classes=2, n_rows=700):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8))
    score = X @ [2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.4, 0.2] + rng.normal(size=n_rows) / 2
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    model = RandomForestClassifier if n_classes else RandomForestRegressor
    model = model(10, max_depth=6, max_features=0.5, random_state=0).fit(X[:500], y[:500])
    return PruningProblem(Forest.from_model(model), X[500:], costs=COSTS), X[500:]


@pytest.fixture(scope="module")
def problem():
    return problem_and_rows()


@pytest.fixture(scope="module")
def path(problem):
    return problem[0].path()


def by_hand(path, X, weight=None, **settings):
    """Simulate every point."""
    return np.array(
        [
            np.average(BudgetPredictor(each.forest, COSTS, **settings).simulate(X).cost, weights=weight)
            for each in path
        ]
    )


@pytest.mark.parametrize("settings", [{}, {"slack": 0.2}, {"threshold": 0.3}])
def test_costs_are_those_of_simulations(problem, path, settings):
    decided = path.decided(problem[1], COSTS, **settings)
    expected = by_hand(path, problem[1], **settings)
    assert len(decided) == len(path)
    assert list(decided) == pytest.approx(expected)
    assert decided[-1] == decided[len(path) - 1]
    assert np.all(expected <= path.cost + 1e-9)
    assert expected[0] < 0.95 * path.cost[0]
    with pytest.raises(IndexError):
        decided[len(path)]


def test_rows_have_weights(problem, path):
    weight = np.where(problem[1][:, 0] > 0, 9.0, 0.1)
    decided = path.decided(problem[1], COSTS, sample_weight=weight)
    assert list(decided) == pytest.approx(by_hand(path, problem[1], weight))
    assert decided[0] != pytest.approx(path.decided(problem[1], COSTS)[0], rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("slack", [0.0, 0.3])
def test_budget_buys_the_most_expensive_point_within_it(n_classes, slack):
    problem, X = problem_and_rows(n_classes)
    path = problem.path()
    costs = by_hand(path, X, slack=slack)
    for budget in np.linspace(costs[-2] * 1.01, costs[0] * 1.1, 12):
        decided = path.decided(X, COSTS, slack=slack)
        pruning = decided.at(budget=budget)
        k = int(np.flatnonzero(path.lam == pruning.lam)[0])
        assert costs[k] <= budget
        # The next one costs more; a search by halves may miss a later one where costs do not fall.
        assert k == 0 or costs[k - 1] > budget
    full, early = path.at(budget=5.0), path.decided(X, COSTS, slack=slack).at(budget=5.0)
    assert early.n_splits > full.n_splits


def test_few_points_are_simulated():
    problem, X = problem_and_rows(n_classes=0)
    path = problem.path()
    assert len(path) > 20
    for budget in (2.0, 4.0, 6.0):
        decided, roughly = (path.decided(X, COSTS, tolerance=2.0) for _ in range(2))
        exact = decided.at(budget=budget)
        n_simulated = len(decided._known)
        assert n_simulated <= 8
        assert repr(decided) == f"DecidedCosts({len(path)} points, {n_simulated} simulated)"
        # Whoever is content with less finds a point nearby sooner.
        k = roughly.point_within(budget, precision=0.1)
        assert len(roughly._known) <= n_simulated
        assert exact.cost / 1.1 <= path.cost[k] <= exact.cost + 1e-9


def test_all_the_money_buys_the_first_point(problem, path):
    decided = path.decided(problem[1], COSTS)
    assert decided.at(budget=np.inf).lam == path.lam[0]
    assert decided.at(budget=path.cost[0]).lam == path.lam[0]


def test_regression_with_a_tolerance():
    problem, X = problem_and_rows(n_classes=0)
    path = problem.path()
    exact, roughly = (path.decided(X, COSTS, tolerance=tolerance)[0] for tolerance in (None, 3.0))
    assert roughly < exact <= path.cost[0] + 1e-9


def test_budget_that_buys_nothing_warns(problem, path):
    with pytest.warns(BudgetWarning, match="buys nothing") as caught:
        pruning = path.decided(problem[1], COSTS).at(budget=0.0)
    assert pruning.n_splits == path.n_splits[-1]
    assert caught[0].filename == __file__


def test_bad_input(problem, path):
    X = problem[1]
    with pytest.raises(InvalidInputError, match="budget must be a number of at least 0, not -1"):
        path.decided(X, COSTS).at(budget=-1)
    with pytest.raises(InvalidInputError, match="slack must be"):
        path.decided(X, COSTS, slack=0.5)
    with pytest.raises(InvalidInputError, match="tolerance is for regression"):
        path.decided(X, COSTS, tolerance=1.0)
    with pytest.raises(InvalidInputError, match="X has 2 feature"):
        path.decided(X[:, :2], COSTS)
    with pytest.raises(InvalidInputError, match="sample_weight must have one entry"):
        path.decided(X, COSTS, sample_weight=[1.0])
    others = FeatureCosts.from_sources({"blood": 1.0}, dict.fromkeys(range(8), "blood"))
    with pytest.raises(InvalidInputError, match=r"other sources \(blood.*than those of the path \(x0, x1"):
        path.decided(X, others)
    expensive = problem[0].path(lams=[0.0])
    with pytest.raises(InvalidInputError, match="even if decided early; the cheapest costs"):
        expensive.decided(X, COSTS).at(budget=0.5)
