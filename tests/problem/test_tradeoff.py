"""All lambdas at once must say what one lambda at a time says: values of prunings, and bounds below them."""

import numpy as np
import pytest

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError, SolverError
from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled

SHARED = FeatureCosts([1, 0, 2, 0.5], groups={0: "lab", 1: "lab"}, group_costs={"lab": 1.5})


def nested(forest, rng):
    """Critical lambdas that fall from parents to children, with ties, zeros and infinities."""
    steps = rng.choice([0.0, 0.01, 0.02, 0.05, 0.3, np.inf], forest.n_nodes)
    critical = np.where(forest.is_split, steps, 0.0)
    for h in range(forest.n_nodes):
        if forest.parent[h] >= 0:
            critical[h] = min(critical[h], critical[forest.parent[h]])
        elif forest.is_split[h]:
            critical[h] = max(critical[h], 0.05)  # most trees keep something
    return critical


def level_by_pair(problem, flow, rng):
    """Flow and levels as an exact solver leaves them: all that pay for a pair share a level."""
    level = rng.choice([0.01, 0.04, np.inf], problem.forest.n_nodes)
    seen = {}
    for k, (h, s) in enumerate(zip(problem.use_node, problem.use_source, strict=True)):
        rows = problem.order[problem.forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]
        for q, i in enumerate(rows):
            if seen.setdefault((s, i), level[h]) != level[h]:
                flow[problem.use_start[k] + q] = 0.0
    return flow, level


def beta_at(problem, flow, level, lam):
    node = np.repeat(problem.use_node, np.diff(problem.use_start))
    return flow * np.minimum(1, lam / level[node])


def test_trade_off_is_the_value_of_each_pruning(case):
    problem = PruningProblem(case.forest, case.X, case.y, error="held-out", costs=SHARED)
    critical = nested(case.forest, np.random.default_rng(0))
    lams = np.array([0.02, 0.0, 0.015, 0.05, 7.0, 0.02])  # any order, on and between the steps
    error, cost, n_splits = problem.trade_off(critical, lams)
    keeps = [critical > lam for lam in lams]
    assert error == pytest.approx([problem.error_of(keep) for keep in keeps], rel=1e-12, abs=1e-12)
    assert cost == pytest.approx([problem.cost_of(keep) for keep in keeps], rel=1e-12, abs=1e-12)
    assert n_splits.tolist() == [keep.sum() for keep in keeps]


def test_weights_count(get_case):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X, costs=SHARED, sample_weight=case.weight)
    critical = nested(case.forest, np.random.default_rng(1))
    _, cost, _ = problem.trade_off(critical, [0.01])
    assert cost[0] == pytest.approx(problem.cost_of(critical > 0.01), abs=1e-12)


def test_no_points_no_values(get_case):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X)
    assert [part.size for part in problem.trade_off(np.zeros(case.forest.n_nodes), [])] == [0, 0, 0]


@pytest.mark.parametrize("name", ["forest", "bag", "tree, weights", "forest, roots only"])
@pytest.mark.parametrize("costs", [None, SHARED, 0])
@pytest.mark.parametrize("computation_weight", [0.0, 0.2])
def test_bounds_are_the_bounds_of_each_lambda(get_case, name, costs, computation_weight):
    case = get_case(name)
    rng = np.random.default_rng(2)
    problem = PruningProblem(case.forest, case.X, costs=costs, computation_weight=computation_weight)
    lams = np.array([0.03, 0.0, 0.01, 0.04, 0.1, 5.0, 0.005])
    for scale in (0.0, 1e-4, 1e-2, 1.0):  # the larger flows pay too much
        flow, level = level_by_pair(problem, scale * rng.random(problem.n_incidences), rng)
        bounds = problem.bounds(flow, level, lams)
        expected = [problem.bound(beta_at(problem, flow, level, lam), lam) for lam in lams]
        assert bounds == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_pairs_of_mixed_levels_are_refused(get_case):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X)
    level = np.random.default_rng(0).random(case.forest.n_nodes) + 1
    flow = np.ones(problem.n_incidences)
    with pytest.raises(
        SolverError, match=r"flow of row \d+ to source 'x\d' comes from nodes of different levels"
    ):
        problem.bounds(flow, level, [0.1])
    level[problem.use_node[-1]] = 0
    with pytest.raises(SolverError, match="level must be positive where there is flow"):
        problem.bounds(flow, level, [0.1])
    # Where nothing is paid, levels do not matter.
    assert problem.bounds(0 * flow, 0 * level, [0.1])[0] == problem.bound(0 * flow, 0.1)


def test_same_input_same_bits(get_case):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X, costs=SHARED, sample_weight=case.weight)
    critical = nested(case.forest, np.random.default_rng(0))
    twice = [problem.trade_off(critical, np.linspace(0, 0.1, 50)) for _ in range(2)]
    for one, other in zip(*twice, strict=True):
        assert np.array_equal(one, other)


def test_what_is_no_critical_lambda(get_case):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X)
    forest = case.forest
    with pytest.raises(InvalidInputError, match="one entry >= 0 for each"):
        problem.trade_off(np.full(forest.n_nodes, np.nan), [0.1])
    with pytest.raises(InvalidInputError, match="which is a leaf"):
        problem.trade_off(np.ones(forest.n_nodes), [0.1])
    child = np.flatnonzero(forest.is_split & (forest.parent >= 0))[0]
    with pytest.raises(InvalidInputError, match=f"larger at node {child} than at its parent"):
        problem.trade_off(np.arange(forest.n_nodes) == child, [0.1])
    with pytest.raises(InvalidInputError, match="lam must be a finite number of at least 0"):
        problem.trade_off(np.zeros(forest.n_nodes), [0.1, -1])
    with pytest.raises(InvalidInputError, match="level must have one entry"):
        problem.bounds(np.zeros(problem.n_incidences), [1.0], [0.1])
