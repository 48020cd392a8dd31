"""GreedyPrune: every step is tried from scratch, with pruned forests, on forests small and not so small."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from budgetprune import FeatureCosts, Forest, InvalidInputError, PruningProblem
from budgetprune.baselines import GreedyPrune, PruningCurve, greedy_curve
from budgetprune.problem.acquisition import sources_used

from ..solvers.strategies import (
    examples,
    generators,
    kinds_of_costs,
    random_costs,
    random_forest,
    random_weight,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def needs(problem: PruningProblem, s: int) -> np.ndarray:
    """Mask of the splits whose feature needs a source."""
    table, forest = problem.costs, problem.forest
    of_feature = [s in table.needs[a:b] for a, b in pairwise(table.needs_start)]
    return forest.is_split & np.array(of_feature)[forest.feature]


def without(problem: PruningProblem, keep: np.ndarray, s: int) -> np.ndarray:
    """What is kept once all nodes of a source are leaves."""
    keep = keep & ~needs(problem, s)
    for h in range(keep.size):
        keep[h] &= problem.forest.parent[h] < 0 or keep[problem.forest.parent[h]]
    return keep


def check_steps(
    problem: PruningProblem, curve: PruningCurve, X: Any, y: Any, options: dict[str, Any]
) -> None:
    """Try every source at every step, from scratch: prune, count again, and compare."""
    weight, price = problem.row_weight, problem.costs.price

    def worth(keep: np.ndarray) -> tuple[float, float]:
        pruned = problem.forest.prune(keep)
        error = PruningProblem(pruned, X, y, **options)
        used = sources_used(pruned, problem.costs, X)
        return error.error_of(pruned.is_split), float(weight @ problem.costs.total(used))

    keep = problem.forest.is_split
    for point, name in enumerate(curve.removed):
        assert np.array_equal(curve.keep(point), keep)
        error, cost = worth(keep)
        sources = [s for s in range(problem.n_sources) if price[s] > 0 and (needs(problem, s) & keep).any()]
        tried = {}
        for s in sources:
            other_error, other_cost = worth(without(problem, keep, s))
            tried[s] = (cost - other_cost, other_error - error)
        free = {s: saved for s, (saved, added) in tried.items() if added <= 1e-10}
        merit = free or {s: saved / added for s, (saved, added) in tried.items()}
        chosen = problem.costs.source_names.index(name)
        assert chosen in merit
        assert merit[chosen] >= max(merit.values()) - 1e-8 * (1 + max(merit.values()))
        keep = without(problem, keep, chosen)
    assert np.array_equal(curve.keep(len(curve) - 1), keep)


@pytest.mark.uncompiled
@examples(60)
@given(generators, kinds_of_costs, st.booleans(), st.sampled_from(["in-bag", "held-out"]), st.booleans())
def test_each_step_is_the_best_one(rng, kind, is_fitted, error, is_weighted):
    n_features, n_rows = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    forest = random_forest(rng, n_features, int(rng.integers(1, 6)), is_fitted)
    X = rng.integers(0, 3, (n_rows, n_features)).astype(float)
    y = rng.integers(0, 2, n_rows)
    weight = random_weight(rng, n_rows) if is_weighted else None
    options = {"error": error, "sample_weight": weight}
    problem = PruningProblem(forest, X, y, costs=random_costs(rng, kind, n_features), **options)
    curve = greedy_curve(problem)
    check_steps(problem, curve, X, y, options)
    # In the end nothing is left that costs anything.
    assert problem.cost_of(curve.keep(len(curve) - 1)) == 0
    assert len(curve) <= problem.n_sources + 1


@pytest.mark.uncompiled
def test_more_sources_than_bits_in_a_word():
    """A hundred features, every third pair of which shares a source: words of 64 sources come together."""
    X, y = make_classification(150, n_features=100, n_informative=20, random_state=0)
    model = RandomForestClassifier(4, max_features=10, random_state=0).fit(X[:100], y[:100])
    shared = [f"shared {k // 6}" if k % 3 == 0 else None for k in range(100)]
    costs = FeatureCosts(np.arange(100) % 7 + 0.5, groups=shared, group_costs=3.0)
    problem = PruningProblem(Forest.from_model(model), X[100:], costs=costs)
    assert problem.n_sources > 64
    assert {s >= 64 for s in problem.use_source.tolist()} == {True, False}
    curve = greedy_curve(problem, max_steps=6)
    assert len(curve) == 7
    check_steps(problem, curve, X[100:], None, {})


def test_boosted_trees_and_regression_have_errors_too():
    X, y = make_classification(200, n_features=8, n_informative=5, random_state=0)
    for model in (
        RandomForestRegressor(3, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
    ):
        problem = PruningProblem(Forest.from_model(model.fit(X, y)), X, X_train=X, y_train=y)
        curve = greedy_curve(problem)
        error, cost = curve.trade_off(problem)
        assert len(set(curve.removed)) == len(curve) - 1 <= 8
        assert np.all(np.diff(cost) < 0)
        for point in range(len(curve)):
            assert cost[point] == pytest.approx(problem.cost_of(curve.keep(point)), abs=1e-12)
            assert error[point] == pytest.approx(problem.error_of(curve.keep(point)))
            assert curve.n_splits[point] == curve.forest(point).n_splits


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :12], y


@pytest.fixture(scope="module")
def unpruned(rows):
    return FrozenEstimator(RandomForestClassifier(10, max_depth=6, random_state=0).fit(*rows))


def test_steps_end_within_the_budget(rows, unpruned):
    X, y = rows
    costs = np.arange(1.0, 13.0)
    fitted = GreedyPrune(unpruned, budget=20, costs=costs).fit(X, y)
    _, cost = fitted.curve_.trade_off(PruningProblem(fitted.curve_.unpruned, X, costs=costs))
    assert cost[fitted.n_steps_] <= 20 < cost[fitted.n_steps_ - 1]
    assert fitted.acquisition_cost(X).mean() == pytest.approx(cost[fitted.n_steps_])
    # Rows of their own may count the costs.
    few = GreedyPrune(unpruned, budget=20, costs=costs).fit(X, y, X_cost=X[:50])
    assert few.acquisition_cost(X[:50]).mean() <= 20


def test_steps_end_after_max_steps(rows, unpruned):
    for max_steps in (0, 3, 50):
        fitted = GreedyPrune(unpruned, max_steps=max_steps).fit(*rows)
        assert fitted.n_steps_ == min(max_steps, 12)
        used = set(fitted.forest_.feature[fitted.forest_.is_split].tolist())
        assert not used & {int(name[1:]) for name in fitted.curve_.removed[: fitted.n_steps_]}
    assert fitted.forest_.n_splits == 0
    both = GreedyPrune(unpruned, max_steps=2, budget=0.0).fit(*rows)
    assert both.n_steps_ == 2


def test_by_default_only_what_adds_no_error_goes(rows, unpruned):
    fitted = GreedyPrune(unpruned, costs=np.ones(12)).fit(*rows)
    error, _ = fitted.curve_.trade_off(PruningProblem(fitted.curve_.unpruned, rows[0]))
    assert error[fitted.n_steps_] <= error[0] + 1e-12 < error[fitted.n_steps_ + 1]
    # Leaves that all answer alike make no fewer errors than their root.
    rare = np.arange(len(rows[1])) % 20 == 0
    alike = RandomForestClassifier(3, max_depth=1, min_samples_leaf=100, random_state=3).fit(rows[0], rare)
    assert Forest.from_model(alike).n_splits == 3
    assert GreedyPrune(FrozenEstimator(alike)).fit(rows[0], rare).forest_.n_splits == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_steps": -1}, "max_steps must be a whole number"),
        ({"max_steps": 2.5}, "max_steps must be a whole number"),
        ({"budget": -3}, "budget must be a number"),
        ({"costs": {"nobody": 1.0}}, "nobody"),
    ],
)
def test_wrong_settings_are_refused(rows, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        GreedyPrune(**wrong).fit(*rows)
