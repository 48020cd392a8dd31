"""The complete path from divided slices, against one run of exact flows over the whole problem."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from tqdm.auto import tqdm

from budgetprune import FeatureCosts, Forest, PruningProblem
from budgetprune.solvers.parametric import complete, partition
from budgetprune.solvers.parametric.complete import complete_levels
from budgetprune.solvers.parametric.graph import Closure, build_closure
from budgetprune.solvers.parametric.kernels import Network
from budgetprune.solvers.parametric.levels import at_density, find_levels
from budgetprune.solvers.parametric.partition import balanced, divide_at
from budgetprune.solvers.parametric.slice_kernels import resolve_ties
from budgetprune.solvers.parametric.slices import Slice, divide, parts_of_pairs, whole
from budgetprune.utils.threads import kernel_threads


@pytest.fixture(scope="module", params=["in-bag", "held-out"])
def problem(request: pytest.FixtureRequest) -> PruningProblem:
    """In-bag gains are never negative, held-out ones are."""
    X, y = make_classification(900, 8, n_informative=6, n_clusters_per_class=3, flip_y=0.1, random_state=0)
    model = RandomForestClassifier(8, max_features=None, random_state=0).fit(X[:500], y[:500])
    return PruningProblem(
        Forest.from_model(model),
        X[500:],
        y[500:],
        costs=FeatureCosts([1, 2, 0.5, 1, 3, 0.25, 1, 2]),
        error=request.param,
        X_train=X[:500],
        y_train=y[:500],
    )


@pytest.fixture(scope="module")
def closure(problem) -> Closure:
    return build_closure(problem)


@pytest.fixture(scope="module")
def tree(problem, closure) -> np.ndarray:
    return problem.forest.tree_of_node[closure.top]


@pytest.fixture(scope="module")
def expected(closure) -> np.ndarray:
    net = Network(
        closure.parent, closure.gain, closure.arc_start, closure.arc_pair.copy(), closure.price * closure.unit
    )
    levels = find_levels(net, closure.gain, closure.unit, at_density, tqdm(disable=True))
    resolve_ties(net.parent, net.up, levels.worthwhile, levels.critical)
    return levels.critical


@pytest.fixture
def divisions(monkeypatch) -> list[int]:
    """Let small slices be divided, and count the parts of each division."""
    counts: list[int] = []

    def count(*arguments):
        parts = divide_at(*arguments)
        counts.append(len(parts))
        return parts

    monkeypatch.setattr(partition, "FEWEST_ARCS", 100)
    monkeypatch.setattr(partition, "divide_at", count)
    return counts


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_divided_slices_have_the_same_levels(closure, tree, expected, divisions, n_threads):
    with kernel_threads(n_threads):
        np.testing.assert_array_equal(complete_levels(closure, tree), expected)
    assert max(divisions) > 2


@pytest.mark.parametrize("seed", range(4))
def test_mistaken_divisions_are_repaired(closure, tree, expected, divisions, monkeypatch, seed):
    """Levels that are wrong by up to a factor of three, and no rims: many blocks get into wrong slices."""
    rng = np.random.default_rng(seed)
    n_repairs = 0
    repair = complete._Search.repair

    def blurred(slice_: Slice, n_rounds: int):
        slice_, up, change = balanced(slice_, n_rounds)
        slice_.level[:] *= np.exp(rng.uniform(-1, 1, len(slice_.level)))
        return slice_, up, np.zeros_like(change)

    def count(*arguments):
        nonlocal n_repairs
        n_repairs += 1
        repair(*arguments)

    monkeypatch.setattr(partition, "balanced", blurred)
    monkeypatch.setattr(complete._Search, "repair", count)
    with kernel_threads(1):
        np.testing.assert_array_equal(complete_levels(closure, tree), expected)
    assert n_repairs > 0
    assert max(divisions) > 1


def test_balanced_levels_come_close_to_the_critical_ones(closure, tree, expected):
    """No flow is lost on the way, and no block is above its parent."""
    slice_, up, _ = balanced(whole(closure, tree), 200)
    level = slice_.level
    known = (expected > 0) & (closure.gain > 0)
    assert np.quantile(np.abs(np.log(level[known] / expected[known])), 0.95) < 0.02
    has_parent = closure.parent >= 0
    assert np.all(level[has_parent] <= level[closure.parent[has_parent]] * (1 + 1e-6))
    supply = closure.gain / 2.0**60
    np.add.at(supply, closure.parent[has_parent], up[has_parent])
    sent = np.add.reduceat(np.append(slice_.flow.astype(float), 0.0), closure.arc_start[:-1])
    sent[np.diff(closure.arc_start) == 0] = 0.0
    gains = closure.gain > 0
    np.testing.assert_allclose((sent + up)[gains], supply[gains], atol=1e-4 * supply.max())
    assert np.all(slice_.flow >= 0)


def test_every_pair_is_paid_for_by_the_highest_part_that_uses_it(closure, tree):
    rng = np.random.default_rng(0)
    part = rng.integers(0, 4, len(tree)).astype(np.int32)
    partition.limit_by_parents(closure.parent, part)
    asked = part.copy()
    problem = whole(closure, tree)
    payer = parts_of_pairs(problem, asked)
    parts = divide(problem, part, [(k, k, k + 1) for k in range(4)])
    assert np.all(part >= asked)  # blocks that nothing in their part absorbs have moved up
    assert np.all(part[closure.parent >= 0] <= part[closure.parent[closure.parent >= 0]])
    for k, found in enumerate(parts):
        blocks = np.flatnonzero(part == k)
        np.testing.assert_array_equal(found.block, blocks)
        np.testing.assert_array_equal(found.gain, closure.gain[blocks])
        assert (found.low, found.high) == (k, k + 1)
        pairs = np.flatnonzero(payer == k)
        np.testing.assert_array_equal(found.price, problem.price[pairs])
        for new, u in enumerate(blocks):
            arcs = closure.arc_pair[closure.arc_start[u] : closure.arc_start[u + 1]]
            here = found.arc_pair[found.arc_start[new] : found.arc_start[new + 1]]
            np.testing.assert_array_equal(pairs[here], arcs[payer[arcs] == k])
            p = closure.parent[u]
            above = found.parent[new]
            assert above == (-1 if p < 0 or part[p] != k else np.flatnonzero(blocks == p)[0])
