"""`PruningPath.at`: the pruning for a lambda or a budget, on complete paths and on grids."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import BudgetWarning, InvalidInputError, PruningPath

from .problems import nested

pytestmark = pytest.mark.uncompiled


def test_at_lam_between_breakpoints(path):
    for k in range(len(path) - 1):
        between = 0.3 * path.lam[k] + 0.7 * path.lam[k + 1]
        pruning = path.at(lam=between)
        assert pruning.lam == between
        assert np.array_equal(pruning.keep, path.critical_lambda > between)
        assert (pruning.error, pruning.cost) == (path.error[k], path.cost[k])
    assert path.at(lam=path.lam[2]).n_splits == path.n_splits[2]  # at a breakpoint, the smaller set
    assert path.at(lam=10).n_splits == path.n_splits[-1]


def test_at_budget(path):
    for k in range(1, len(path)):
        between = (path.cost[k - 1] + path.cost[k]) / 2
        if path.cost[k - 1] > between >= path.cost[-2]:
            assert path.at(budget=between).cost == path.cost[k]
    assert path.at(budget=path.cost[1]).cost == path.cost[1]
    for plenty in (path.cost[0], 1e6, np.inf):
        assert path.at(budget=plenty).n_splits == path.n_splits[0]


def test_of_equal_costs_the_smallest_error_is_chosen(problem, path):
    """Splits that need nothing new come and go along the path, and cost nothing."""
    level = path.lam.copy()
    flat = replace(path, cost=np.where(level < 0.03, 2.0, np.where(level < 0.1, 1.0, 0.0)))
    assert flat.at(budget=1.5).lam == level[level >= 0.03][0]


def test_cheapest_useful_point(path):
    assert path.cheapest_useful == len(path) - 2
    flat = replace(path, cost=np.where(path.lam < 0.03, 2.0, 1.0))
    assert flat.cost[flat.cheapest_useful] == 2.0
    assert flat.cost[flat.cheapest_useful + 1] == 1.0
    assert replace(path, cost=0 * path.cost).cheapest_useful is None


def test_a_budget_that_buys_nothing(path):
    for budget in (0, 0.9 * path.cost[-2]):
        with pytest.warns(BudgetWarning, match=f"buys nothing.*{path.cost[-2]:.6g}"):
            assert path.at(budget=budget).n_splits == path.n_splits[-1]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({}, "either"),
        ({"lam": 1, "budget": 1}, "either"),
        ({"budget": -1}, "budget must be a number of at least 0, not -1"),
        ({"budget": float("nan")}, "not nan"),
        ({"budget": "much"}, "not 'much'"),
        ({"lam": -0.1}, "lam must be a finite number of at least 0, not -0.1"),
        ({"lam": float("inf")}, "not inf"),
    ],
)
def test_choices_that_are_none(path, choice, words):
    with pytest.raises(InvalidInputError, match=words):
        path.at(**choice)


def test_points_of_a_grid(problem, grid):
    assert grid.lam.tolist() == [0.02, 0.075, 0.09]
    assert not grid.complete
    assert [p.cost for p in grid] == pytest.approx([problem.cost_of(p.keep) for p in grid])
    assert grid.at(lam=0.075).n_splits == grid.n_splits[1]
    assert grid.at(budget=100).n_splits == grid.n_splits[0]


def test_between_equal_points_of_a_grid_nestedness_decides(grid):
    assert grid.n_splits[1] == grid.n_splits[2]
    pruning = grid.at(lam=0.08)
    assert (pruning.lam, pruning.n_splits) == (0.08, grid.n_splits[1])


@pytest.mark.parametrize(("lam", "near"), [(0.05, "0.02 and 0.075"), (0.01, "0.02"), (0.2, "0.09")])
def test_between_different_points_of_a_grid_nothing_is_known(grid, lam, near):
    with pytest.raises(InvalidInputError, match=rf"next to it: {near}\); use problem\.solve\({lam}\)"):
        grid.at(lam=lam)


def test_beyond_a_grid_that_ends_at_nothing_there_is_nothing(problem):
    critical = nested(problem.forest)
    path = PruningPath.of(problem, critical, lams=[0.05, 0.5], complete=False)
    assert path.at(lam=2.0).n_splits == 0
    everything = np.where(problem.forest.is_split, 1.0, 0.0)
    path = PruningPath.of(problem, everything, lams=[0.05], complete=False)
    assert path.at(lam=0.01).n_splits == problem.forest.n_splits


def test_a_grid_may_be_too_expensive(grid):
    with pytest.raises(InvalidInputError, match=r"every point of this path costs more than 0\.001"):
        grid.at(budget=0.001)
