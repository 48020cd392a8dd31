"""The bound is below every pruning, whatever the multipliers; a certificate needs nothing but the answer."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled

SHARED = FeatureCosts([1, 0.5, 2], groups={0: "group", 2: "group"}, group_costs={"group": 1.5})


def tiny_problem(seed, costs, computation_weight):
    """Two trees of at most three splits, errors that may grow with a split, weights, equal rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(25, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=25) > 2).astype(int)
    model = RandomForestClassifier(2, max_leaf_nodes=4, random_state=seed).fit(X[:15], y[:15])
    return PruningProblem(
        Forest.from_model(model),
        X[15:],
        y[15:],
        costs=costs,
        error="held-out",
        sample_weight=rng.integers(1, 4, 10),
        computation_weight=computation_weight,
    )


@pytest.fixture(params=[(0, None, 0.0), (1, SHARED, 0.0), (2, [0, 3, 1], 0.4), (3, SHARED, 0.1), (4, 0, 0.0)])
def problem(request):
    return tiny_problem(*request.param)


def test_no_pruning_is_below_the_bound(problem, twins):
    prunings = list(twins.prunings(problem.forest))
    error = np.array([problem.error_of(keep) for keep in prunings])
    cost = np.array([problem.cost_of(keep) + problem.computation_of(keep) for keep in prunings])
    # Where nothing is paid for, the trees' own best prunings are the best.
    assert problem.bound(np.zeros(problem.n_incidences), 0.0) == pytest.approx(error.min())
    rng = np.random.default_rng(0)
    for lam in (0.0, 0.01, 0.05, 0.3):
        least = np.min(error + lam * cost)
        for scale in (0.0, 1e-3, 1e-2, 0.1, 10.0):
            beta = scale * lam * rng.random(problem.n_incidences)
            assert problem.bound(beta, lam) <= least + 1e-12
        assert problem.bound(np.full(problem.n_incidences, 5.0), lam) <= least + 1e-12


def test_bound_is_the_least_lagrangian(problem, twins):
    """By the definition: all prunings, and each pair bought or not, with beta for the difference."""
    lam = 0.05
    beta = np.random.default_rng(1).random(problem.n_incidences) * 0.02
    pays = np.zeros((problem.n_sources, problem.n_examples))
    at_node = np.zeros(problem.forest.n_nodes)
    for k, (h, s) in enumerate(zip(problem.use_node, problem.use_source, strict=True)):
        rows = problem.order[problem.forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]
        for q, i in enumerate(rows):
            pays[s, i] += beta[problem.use_start[k] + q]
            at_node[h] += beta[problem.use_start[k] + q]
    trees = min(
        problem.error_of(keep) + lam * problem.computation_of(keep) + at_node[keep].sum()
        for keep in twins.prunings(problem.forest)
    )
    pairs = np.minimum(0, lam * np.outer(problem.costs.price, problem.row_weight) - pays).sum()
    assert problem.bound(beta, lam) == pytest.approx(trees + pairs, abs=1e-12)


def test_certificate_recomputes_both_sides(problem):
    keep, lam = problem.unpruned, 0.03
    beta = np.full(problem.n_incidences, 1e-3)
    pruning = replace(problem.pruning(keep, lam, dual=beta), error=-1.0, cost=-1.0)
    certificate = problem.certify(pruning)
    assert certificate.objective == problem.objective(keep, lam)
    assert certificate.bound == problem.bound(beta, lam)
    roots = problem.error[problem.forest.tree_start[:-1]].sum()
    assert certificate.gap == pytest.approx((certificate.objective - certificate.bound) / roots)


def test_another_dual_may_be_given(problem):
    pruning = problem.pruning(problem.unpruned, 0.03)
    zero = np.zeros(problem.n_incidences)
    assert problem.certify(pruning, dual=zero).bound == problem.bound(zero, 0.03)
    with pytest.raises(InvalidInputError, match=r"no dual.*problem\.solve\(pruning\.lam\)"):
        problem.certify(pruning)


def test_where_roots_make_no_error_only_the_best_has_a_finite_gap():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    forest = Forest.from_model(RandomForestClassifier(1, random_state=0).fit(X, [0, 0, 1, 1]))
    label = forest.classes[np.argmax(forest.value[0])]
    sure = PruningProblem(forest, X, np.full(4, label), error="held-out")
    zero = np.zeros(sure.n_incidences)
    nothing = np.zeros(forest.n_nodes, dtype=bool)
    assert sure.certify(sure.pruning(nothing, 1.0, dual=zero)).gap == 0
    assert sure.certify(sure.pruning(sure.unpruned, 1.0, dual=zero)).gap == np.inf


@pytest.mark.parametrize("fault", [lambda beta: beta[1:], lambda beta: beta - 1, lambda beta: beta * np.nan])
def test_multipliers_that_are_none(fault):
    problem = tiny_problem(0, None, 0.0)
    with pytest.raises(InvalidInputError, match=f"each of the {problem.n_incidences} incidences"):
        problem.bound(fault(np.zeros(problem.n_incidences)), 0.1)
