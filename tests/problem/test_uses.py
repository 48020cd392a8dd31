"""First uses, what rows acquire for them and what that costs, against the definitions."""

import numpy as np
import pytest

from budgetprune.costs import FeatureCosts
from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled

COSTS = {
    "one per feature": None,
    "some are free": [2.0, 0.0, 0.5, 0.0],
    "all are free": 0,
    "one group": FeatureCosts(None, groups=["all"] * 4, group_costs={"all": 3.0}),
    "own and shared": FeatureCosts(
        [1, 2, 3, 0],
        groups={0: "blood", 1: ["blood", "visit"], 3: "visit"},
        group_costs={"visit": 7, "blood": 5},
    ),
    "derived": FeatureCosts.from_sources(
        {"a": 1, "free": 0, "b": 2.5, "idle": 9}, {0: "a", 1: ["a", "b"], 2: ["b", "free", "a"], 3: None}
    ),
}


@pytest.fixture(params=["forest", "forest, missing", "forest, roots only", "regression extra trees"])
def case(request, get_case):
    return get_case(request.param)


@pytest.fixture(params=COSTS)
def problem(request, case):
    return PruningProblem(
        case.forest, case.X, case.y, costs=COSTS[request.param], error="held-out", sample_weight=case.weight
    )


def needs(problem, h):
    k, costs = problem.forest.feature[h], problem.costs
    sources = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]] if k >= 0 else []
    return {int(s) for s in sources if costs.price[s] > 0}


def test_a_use_is_first_if_nothing_above_needs_the_source(problem, twins):
    expected = []
    for h in range(problem.forest.n_nodes):
        paid = set().union(*(needs(problem, g) for g in twins.above(problem.forest, h)))
        expected += [(h, s) for s in sorted(needs(problem, h) - paid)]
    assert list(zip(problem.use_node.tolist(), problem.use_source.tolist(), strict=True)) == expected
    assert problem.n_uses == len(expected)


def test_incidences_are_numbered_use_by_use_and_row_by_row(problem, twins):
    n_rows = problem.row_stop - problem.row_start
    assert problem.use_start[0] == 0
    assert np.array_equal(np.diff(problem.use_start), n_rows[problem.use_node])
    assert problem.n_incidences == n_rows[problem.use_node].sum()
    assert problem.use_start.dtype == np.int64
    tree = problem.forest.tree_of_node[problem.use_node]
    for t in range(problem.forest.n_trees):
        uses = np.arange(problem.use_tree_start[t], problem.use_tree_start[t + 1])
        assert np.array_equal(uses, np.flatnonzero(tree == t))


@pytest.mark.parametrize("seed", range(2))
def test_rows_acquire_what_their_ways_need(case, problem, prune_randomly, twins, seed):
    keep = prune_randomly(case.forest, seed)
    expected = twins.acquired(problem, case.X, keep)
    assert np.array_equal(problem.acquired(keep), expected)
    price = np.array([sum(problem.costs.price[s] for s in np.flatnonzero(row)) for row in expected])
    assert problem.cost_of(keep) == pytest.approx(np.average(price, weights=case.weight))


def test_the_unpruned_forest_and_its_roots(case, problem, twins):
    assert np.array_equal(
        problem.acquired(problem.unpruned), twins.acquired(problem, case.X, case.forest.is_split)
    )
    assert not problem.acquired(np.zeros(case.forest.n_nodes, dtype=bool)).any()
    assert problem.cost_of(np.zeros(case.forest.n_nodes, dtype=bool)) == 0
