"""A problem that is too large to enumerate: proofs, an independent maximum flow, and threads."""

from __future__ import annotations

import numpy as np
import pytest
from ortools.graph.python.max_flow import SimpleMaxFlow
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import FeatureCosts, Forest, PruningProblem
from budgetprune.utils.threads import default_thread_count, kernel_threads

N_TRAIN = 1500
# Eight features on their own, eight in two groups; in one of them, each feature has a price as well.
COSTS = FeatureCosts(
    [1, 2, 0.5, 1, 3, 1, 0.1, 2] + [0] * 4 + [0.2] * 4,
    groups=[None] * 8 + ["blood"] * 4 + ["urine"] * 4,
    group_costs={"blood": 3.0, "urine": 1.0},
)


def build_problem(error: str, **options) -> PruningProblem:
    X, y = make_classification(
        N_TRAIN + 2500, 16, n_informative=8, n_clusters_per_class=4, flip_y=0.05, random_state=0
    )
    model = RandomForestClassifier(20, max_features=None, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    return PruningProblem(
        Forest.from_model(model),
        X[N_TRAIN:],
        y[N_TRAIN:],
        costs=COSTS,
        error=error,
        X_train=X[:N_TRAIN],
        y_train=y[:N_TRAIN],
        **options,
    )


@pytest.fixture(scope="module", params=["in-bag", "out-of-bag"])
def problem(request: pytest.FixtureRequest) -> PruningProblem:
    return build_problem(request.param)


@pytest.fixture(scope="module")
def path(problem):
    return problem.path(certify=True)


# --- An independent oracle ----------------------------------------------------------------------------------

UNITS = 2**50  # OR-tools takes whole numbers


def minimum_cut(problem: PruningProblem, lam: float) -> float:
    """Best objective, from the closure problem as the definitions state it, by OR-tools' maximum flow.

    Nodes: origin, sink, the nodes of the trees, then all pairs of a source and a row.
    """
    forest, n = problem.forest, problem.n_examples
    split = np.flatnonzero(forest.is_split)
    below = split[forest.parent[split] >= 0]
    gain = np.rint(problem.gain * UNITS).astype(np.int64)
    gaining, losing = split[gain[split] > 0], split[gain[split] < 0]
    price = np.rint(lam * UNITS * np.outer(problem.costs.price, problem.row_weight)).astype(np.int64).ravel()
    plenty = gain[gaining].sum() + 1
    user, pair = [], []
    for k, h in enumerate(problem.use_node):
        rows = problem.order[forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]
        user.append(np.full(rows.size, h))
        pair.append(problem.use_source[k] * n + rows)
    user, pair = np.concatenate(user), np.concatenate(pair)
    origin, sink, first_node, first_pair = 0, 1, 2, 2 + forest.n_nodes
    flow = SimpleMaxFlow()

    def add(tail, head, capacity) -> None:
        tail, head, capacity = np.broadcast_arrays(tail, head, capacity)
        flow.add_arcs_with_capacity(tail.astype(np.int32), head.astype(np.int32), capacity.astype(np.int64))

    add(origin, first_node + gaining, gain[gaining])
    add(first_node + losing, sink, -gain[losing])
    add(first_node + below, first_node + forest.parent[below], plenty)
    add(first_node + user, first_pair + pair, plenty)
    add(first_pair + np.arange(price.size), sink, price)
    assert flow.solve(origin, sink) == flow.OPTIMAL
    at_roots = problem.error[forest.tree_start[:-1]].sum()
    return at_roots - (gain[gaining].sum() - flow.optimal_flow()) / UNITS


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5])
def test_or_tools_finds_the_same_optimum(problem, path, share):
    assert problem.n_incidences >= 200_000
    lam = path.lam[int(share * len(path))]
    keep = path.at(lam=lam).keep
    assert 0 < np.count_nonzero(keep) < problem.forest.n_splits
    assert problem.objective(keep, lam) == pytest.approx(minimum_cut(problem, lam), rel=1e-9)


# --- Proofs -------------------------------------------------------------------------------------------------


def test_the_whole_path_is_proven(problem, path):
    assert path.complete
    assert len(path) > 10
    assert path.gap.max() <= 1e-9
    # A bound above the objective by more than rounding would be no bound.
    assert path.gap.min() >= -1e-12


def test_grids_resolutions_and_single_lambdas_are_proven(problem, path):
    lams = np.linspace(0, path.lam[-1], 7)
    for proven in (problem.path(lams=lams, certify=True), problem.path(resolution=1.0, certify=True)):
        assert proven.gap.max() <= 1e-9
        for pruning in proven:
            np.testing.assert_array_equal(pruning.keep, path.at(lam=pruning.lam).keep)
    one = problem.solve(lams[1])
    assert problem.certify(one).gap <= 1e-9
    np.testing.assert_array_equal(one.keep, path.at(lam=lams[1]).keep)


def test_a_grid_agrees_with_the_path(problem, path):
    lams = np.concatenate([path.lam[::5], path.lam[::5] * (1 - 1e-6), path.lam[::5] * (1 + 1e-6)])
    for pruning in problem.path(lams=lams):
        np.testing.assert_array_equal(pruning.keep, path.at(lam=pruning.lam).keep)


def test_the_best_value_is_concave_and_prunings_are_nested(path):
    slopes = np.diff(path.objective) / np.diff(path.lam)
    assert np.all(slopes >= 0)
    assert np.all(np.diff(slopes) <= 1e-6 * slopes[:-1])
    assert np.all(np.diff(path.n_splits) < 0)


def test_computation_has_a_price_too():
    problem = build_problem("out-of-bag", computation_weight=0.02)
    path = problem.path(certify=True)
    assert path.gap.max() <= 1e-9
    lam = path.lam[len(path) // 2]
    assert problem.certify(problem.solve(lam)).gap <= 1e-9


# --- Threads ------------------------------------------------------------------------------------------------


def test_threads_do_not_change_a_bit(problem):
    if default_thread_count() < 2:
        pytest.skip("there is one thread only")
    paths, duals = [], []
    for number in (1, 2, 2):
        with kernel_threads(number):
            paths.append(problem.path(certify=True))
            duals.append(problem.solve(paths[-1].lam[len(paths[-1]) // 2]).dual)
    for path, dual in zip(paths[1:], duals[1:], strict=True):
        for name in ("critical_lambda", "lam", "error", "cost", "n_splits", "objective", "bound", "gap"):
            assert getattr(path, name).tobytes() == getattr(paths[0], name).tobytes(), name
        assert dual.tobytes() == duals[0].tobytes()
