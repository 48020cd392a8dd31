"""Least squares among probabilities: its parts by definition, its minima against another optimiser."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimise
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest
from budgetprune.refit import Sample
from budgetprune.refit.kernels import project
from budgetprune.refit.simplex import minimise_on_simplex, rows_by_leaf

from .threads import on_threads
from .twins import Small, design, pruned, random_pruning

N_CLASSES = 3


def small_forest(seed=0, n_classes=N_CLASSES, n_rows=25, n_trees=3, **settings):
    """A pruned random forest, and rows it was not grown on, with weights of which some are 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60 + n_rows, 4))
    y = np.searchsorted(
        np.linspace(-1, 1, n_classes - 1), X[:, 0] + X[:, 1] ** 2 - 1 + rng.normal(size=len(X)) / 2
    )
    model = RandomForestClassifier(n_trees, max_leaf_nodes=6, random_state=0, **settings).fit(X[:60], y[:60])
    forest = Forest.from_model(model)
    sample = Sample.of(forest, X[60:], y[60:], rng.integers(0, 3, n_rows))
    pruning = random_pruning(forest, seed)
    return Small(pruning, sample, sample.leaves(pruning))


def solve(small, ridge, *, start=None, tolerance=1e-10, max_steps=20_000):
    leaves, sample = small.leaves, small.sample
    start = np.zeros_like(leaves.value) if start is None else start
    return minimise_on_simplex(
        leaves, sample.target, sample.weight, ridge, start=start, tolerance=tolerance, max_steps=max_steps
    )


def objective(small, ridge):
    """Value and gradient by the values of the leaves, from dense matrices."""
    leaves, sample, divisor = small.leaves, small.sample, small.forest.divisor
    Z = design(leaves)[:, 0, :, 0]
    Y = np.eye(leaves.value.shape[1])[sample.target]

    def at(value):
        shift = (value - leaves.value) / divisor
        off = leaves.score + Z @ shift - Y
        total = (sample.weight @ off**2).sum() / 2 + ridge * (shift**2).sum() / 2
        return total, (Z.T @ (sample.weight[:, np.newaxis] * off) + ridge * shift) / divisor

    return at


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_finds_what_another_optimiser_finds(seed, ridge):
    small = small_forest(seed, n_trees=2)
    at = objective(small, ridge)
    shape = small.leaves.value.shape
    oracle = scipy_minimise(
        lambda v: at(v.reshape(shape))[0],
        small.leaves.value.ravel(),
        jac=lambda v: at(v.reshape(shape))[1].ravel(),
        method="SLSQP",
        bounds=[(0, 1)] * small.leaves.value.size,
        constraints={
            "type": "eq",
            "fun": lambda v: v.reshape(shape).sum(1) - 1,
            "jac": lambda v: np.kron(np.eye(shape[0]), np.ones(shape[1])),
        },
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    found = solve(small, ridge)
    assert found.gradient_norm <= 1e-10
    assert at(found.value)[0] <= oracle.fun + 1e-10
    assert found.value == pytest.approx(oracle.x.reshape(shape), abs=1e-4)
    assert (found.value == 0).any(), "constraints do not bind"


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("settings", [{}, {"n_classes": 2}, {"n_trees": 1}, {"class_weight": "balanced"}])
def test_nothing_can_be_moved_from_class_to_class(settings, ridge):
    """KKT: in each leaf, classes with some probability have the same gradient, others no lesser one."""
    small = small_forest(5, **settings)
    found = solve(small, ridge)
    assert found.value.min() >= 0
    assert found.value.sum(axis=1) == pytest.approx(1, abs=1e-12)
    _, gradient = objective(small, ridge)(found.value)
    least = gradient.min(axis=1, keepdims=True)
    assert np.all((gradient - least <= 1e-7) | (found.value <= 1e-9))


@pytest.mark.uncompiled
def test_reported_gradient_is_what_single_leaves_could_still_gain():
    small, ridge = small_forest(1), 0.3
    at, divisor = objective(small, ridge), small.forest.divisor
    stiffness = (small.leaves.weights(small.sample.weight) + ridge)[:, np.newaxis] / divisor**2

    def norm(value):
        ideal = value - at(value)[1] / stiffness
        for answer in ideal:
            project(answer)
        return np.linalg.norm((ideal - value) * stiffness * divisor)

    for n_steps in (0, 1, 4):
        found = solve(small, ridge, max_steps=n_steps)
        assert found.n_steps == n_steps
        assert found.gradient_norm == pytest.approx(norm(found.value) / norm(small.leaves.value))


@pytest.mark.uncompiled
def test_each_sweep_lowers_the_objective():
    small = small_forest(2)
    values = [objective(small, 0.2)(solve(small, 0.2, max_steps=n).value)[0] for n in range(5)]
    assert (np.diff(values) < 0).all()


@pytest.mark.uncompiled
def test_a_warm_start_leads_to_the_same_answer_sooner():
    small = small_forest(3)
    other = (solve(small, 4.0).value - small.leaves.value) / small.forest.divisor
    cold, warm = solve(small, 3.9), solve(small, 3.9, start=other)
    assert warm.value == pytest.approx(cold.value, abs=1e-8)
    assert warm.n_steps < cold.n_steps
    again = solve(small, 4.0, start=other, tolerance=1e-6)
    assert again.n_steps == 0
    assert again.value.min() >= 0


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_leaves_without_rows_keep_their_values(ridge):
    small = small_forest(4)
    few = small.sample.take(np.flatnonzero(small.sample.weight)[:2])
    few = replace(small, sample=few, leaves=few.leaves(small.pruning))
    found = solve(few, ridge)
    empty = np.setdiff1d(np.arange(len(found.value)), few.leaves.stop)
    assert empty.size > 0
    assert found.value[empty] == pytest.approx(few.leaves.value[empty], abs=1e-15)
    assert found.gradient_norm <= 1e-10
    assert np.abs(found.value - few.leaves.value).max() > 0.01


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_a_single_class_is_certain(ridge):
    X = np.random.default_rng(0).normal(size=(20, 2))
    forest = Forest.from_model(RandomForestClassifier(3, random_state=0).fit(X, np.full(20, "only")))
    sample = Sample.of(forest, X, np.full(20, "only"))
    pruning = pruned(forest, forest.is_split)
    found = solve(Small(pruning, sample, sample.leaves(pruning)), ridge)
    assert np.array_equal(found.value, np.ones((3, 1)))
    assert (found.gradient_norm, found.n_steps) == (0, 0)


@pytest.mark.uncompiled
def test_values_that_are_best_already_stay():
    small = small_forest(6)
    value = small.forest.value.copy()
    value[small.leaves.node] = solve(small, 0.0, tolerance=1e-13).value
    best = small.sample.leaves(small.pruning, replace(small.forest, value=value))
    again = solve(replace(small, leaves=best), 7.0, tolerance=1e-3)
    assert again.gradient_norm <= 1e-3
    assert again.n_steps <= 1
    assert again.value == pytest.approx(best.value, abs=1e-6)


def test_answers_do_not_depend_on_threads():
    small = small_forest(7, n_rows=500, n_trees=20)
    one, two = (on_threads(n, lambda: solve(small, 1.0, tolerance=1e-5).value) for n in (1, 2))
    assert np.array_equal(one, two)


# --- The parts ----------------------------------------------------------------------------------------------


def check_nearest(nearest, point):
    """Check the conditions of the nearest point (Karush, Kuhn, Tucker).

    One number is taken off all entries; those that would be negative are 0. Distances cannot tell: they are
    squares, so that points 1e-8 apart have equal ones.
    """
    taken = point - nearest
    level = taken[nearest > 0].max()
    assert np.ptp(taken[nearest > 0]) <= 1e-12
    assert np.all(point[nearest == 0] <= level + 1e-12)


@pytest.mark.uncompiled
@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(-50, 50) | st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=6))
def test_projection_is_the_nearest_point(entries):
    point = np.array(entries)
    nearest = point.copy()
    project(nearest)
    assert nearest.min() >= 0
    assert abs(nearest.sum() - 1) <= 1e-12
    check_nearest(nearest, point)


@pytest.mark.uncompiled
def test_projection_of_huge_entries_ends():
    point = np.array([1e300, -1e300, 1e300, 5.0])
    project(point)
    assert np.array_equal(point, [0.5, 0, 0.5, 0])


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(3))
def test_rows_by_leaf_are_a_stable_sort(seed):
    rng = np.random.default_rng(seed)
    n_leaves = rng.integers(1, 6, 4)
    start = np.append(0, np.cumsum(n_leaves))
    stop = np.array([rng.integers(*ends, 30) for ends in pairwise(start)], dtype=np.int32)
    order, row_start = rows_by_leaf(stop, start)
    assert np.array_equal(order, np.argsort(stop, axis=1, kind="stable"))
    for t in range(4):
        for leaf in range(start[t], start[t + 1]):
            rows = order[t, row_start[leaf + t] : row_start[leaf + t + 1]]
            assert np.array_equal(rows, np.flatnonzero(stop[t] == leaf))
