"""Theorems about optimal prunings, as tests of the path; and the cases where the problem is a simpler one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budgetprune import FeatureCosts, PruningProblem

from .oracles import Case
from .strategies import build_forest, cases, drawn_cases, examples

pytestmark = [pytest.mark.uncompiled, pytest.mark.usefixtures("one_thread")]


# --- The path as a function of lambda -----------------------------------------------------------------------


@given(cases)
@examples(80)
def test_prunings_are_nested(case):
    """A split that is pruned at one lambda stays pruned at every larger one."""
    lams = np.concatenate([case.problem.path().lam, [0.003, 0.02, 0.1]])
    keep = np.array([case.problem.solve(lam).keep for lam in np.sort(lams)])
    assert np.all(keep[1:] <= keep[:-1])


@given(cases)
@examples(80)
def test_the_best_value_is_concave_and_never_falls(case):
    path = case.problem.path()
    lams = np.unique([*path.lam, *(path.lam[1:] + path.lam[:-1]) / 2, 2 * path.lam[-1] + 1])
    best = np.array([case.problem.objective(path.at(lam=lam).keep, lam) for lam in lams])
    slopes = np.diff(best) / np.diff(lams)
    assert np.all(slopes >= -1e-9)
    assert np.all(np.diff(slopes) <= 1e-9 * (1 + slopes[:-1]))


@given(cases)
@examples(80)
def test_along_the_path_error_grows_and_cost_falls(case):
    path = case.problem.path()
    assert np.all(np.diff(path.n_splits) < 0)
    assert np.all(np.diff(path.error) > 0)
    cost = path.cost + [case.problem.computation_of(pruning.keep) for pruning in path]
    assert np.all(np.diff(cost) < 0)


@given(cases)
@examples(80)
def test_the_largest_useful_lambda(case):
    """It is the best exchange that there is: error saved, over the best free pruning, per unit of cost."""
    total = case.prunings.cost + case.prunings.computation
    is_free = total == 0
    saved = case.prunings.error[is_free].min() - case.prunings.error[~is_free]
    largest = max(0.0, (saved / total[~is_free]).max(initial=0.0))
    assume(largest == 0 or largest > 1e-9)
    path = case.problem.path()
    assert path.lam[-1] == pytest.approx(largest, rel=1e-9, abs=1e-15)
    for solve in (lambda lam: path.at(lam=lam), case.problem.solve):
        at = solve(path.lam[-1]).keep
        assert case.problem.cost_of(at) + case.problem.computation_of(at) == 0
        if largest:
            below = solve(path.lam[-1] * (1 - 1e-6)).keep
            assert case.problem.cost_of(below) + case.problem.computation_of(below) > 0


# --- Simpler problems in disguise ---------------------------------------------------------------------------


def best_below(problem: PruningProblem, charge: np.ndarray) -> np.ndarray:
    """V(h) = min(error, charge + V(left) + V(right)), the best that each subtree can do on its own."""
    value = problem.error.copy()
    for h in np.flatnonzero(problem.unpruned)[::-1]:
        children = value[problem.forest.left[h]] + value[problem.forest.right[h]]
        value[h] = min(value[h], charge[h] + children)
    return value


@given(drawn_cases(n_trees=1), st.floats(0, 0.5))
@examples(80)
def test_one_tree_is_a_recursion(case, lam):
    """A row reaches one leaf of a tree, so no two splits share what they are the first to use."""
    problem = case.problem
    charge = lam * problem.computation
    for k, h in enumerate(problem.use_node):
        rows = problem.order[0, problem.row_start[h] : problem.row_stop[h]]
        charge[h] += lam * problem.costs.price[problem.use_source[k]] * problem.row_weight[rows].sum()
    best = best_below(problem, charge)[0]
    assert problem.objective(problem.solve(lam).keep, lam) == pytest.approx(best, abs=1e-12)
    assert problem.objective(problem.path().at(lam=lam).keep, lam) == pytest.approx(best, abs=1e-12)


@given(drawn_cases(costs=FeatureCosts(0.0), loss="misclassification", computation_weight=0.0))
@examples(80)
def test_without_costs_it_is_reduced_error_pruning(case):
    """Bottom up, a split goes if its subtree makes no fewer errors than the node would as a leaf."""
    problem, forest = case.problem, case.problem.forest
    keep = problem.unpruned.copy()
    lost = problem.lost.copy()  # whole numbers, so ties are exact
    for h in np.flatnonzero(problem.unpruned)[::-1]:
        below = lost[forest.left[h]] + lost[forest.right[h]]
        keep[h] = below < lost[h]
        lost[h] = min(below, lost[h])
    for h in np.flatnonzero(forest.parent >= 0):
        keep[h] &= keep[forest.parent[h]]
    path = problem.path()
    assert path.lam.tolist() == [0.0]
    np.testing.assert_array_equal(path[0].keep, keep)
    assert set(np.unique(path.critical_lambda)) <= {0.0, np.inf}
    np.testing.assert_array_equal(problem.solve(0.7).keep, keep)


def one_price(case: Case) -> float:
    """Lambda at which all that the forest can gain is worth the one price of 2."""
    problem = case.problem
    roots = problem.forest.tree_start[:-1]
    everything = best_below(problem, np.zeros_like(problem.error))[roots].sum()
    return (problem.error[roots].sum() - everything) / 2


ONE_GROUP = FeatureCosts(0.0, groups=["g"] * 3, group_costs={"g": 2.0})


@given(drawn_cases(n_features=3, costs=ONE_GROUP, computation_weight=0.0))
@examples(60)
def test_one_group_is_one_price(case):
    """Every row passes the roots, so the forest is bought as a whole or not at all."""
    path = case.problem.path()
    breakpoint = one_price(case)
    assume(breakpoint == 0 or breakpoint > 1e-9)
    if breakpoint == 0:
        assert path.lam.tolist() == [0.0]
        assert path.n_splits.tolist() == [0]
    else:
        np.testing.assert_allclose(path.lam, [0.0, breakpoint], rtol=1e-9)
        np.testing.assert_allclose(path.cost, [2.0, 0.0], rtol=1e-12)


@given(cases, st.sampled_from([0.5, 2.0, 8.0]))
@examples(25)
def test_weights_of_rows_are_shares(case, factor):
    """Rows that all weigh twice as much change nothing."""
    problem = case.problem
    options = {"costs": FeatureCosts([1.0, 0.5, 2.0, 0.0][: problem.forest.n_features])}
    once, again = (
        PruningProblem(problem.forest, case.X, sample_weight=weight * (1 + np.arange(len(case.X))), **options)
        for weight in (1.0, factor)
    )
    np.testing.assert_array_equal(once.path().critical_lambda, again.path().critical_lambda)


def repeated_split(labels: list[int]) -> PruningProblem:
    """Two equal trees of one split, with the labels of their nodes; half of the rows are in class 1."""
    forest = build_forest(
        tree_start=[0, 3, 6],
        parent=[-1, 0, 0, -1, 3, 3],
        feature=[0, -1, -1, 0, -1, -1],
        threshold=[0.5, np.nan, np.nan] * 2,
        value=np.eye(2)[labels * 2],
        class_weight=[[2, 2], [2, 0], [0, 2]] * 2,
        n_features=1,
    )
    return PruningProblem(forest, np.array([[0.0], [1.0], [1.0]]))


def test_a_forest_without_gains_is_pruned_at_once():
    path = repeated_split([0, 0, 0]).path()
    assert path.lam.tolist() == [0.0]
    assert path.n_splits.tolist() == [0]
    assert not path.critical_lambda.any()
    assert path.unpruned.n_splits == 2


def test_trees_share_what_they_pay_for():
    """Each split spares its tree all errors, and that is half of the rows; all rows pay 1, once for both."""
    path = repeated_split([0, 0, 1]).path(certify=True)
    np.testing.assert_allclose(path.lam, [0.0, 0.5])
    np.testing.assert_allclose(path.cost, [1.0, 0.0])
    np.testing.assert_allclose(path.error, [0.0, 0.5], atol=1e-15)
    assert path.n_splits.tolist() == [2, 0]


def test_a_forest_that_only_loses_is_pruned_at_once():
    path = repeated_split([0, 1, 0]).path(certify=True)
    assert path.lam.tolist() == [0.0]
    assert path.n_splits.tolist() == [0]
    assert path.gap.tolist() == [0.0]


def test_weights_may_be_tiny():
    """Gains of 0 stay 0, however small the units are that they are counted in."""
    forest = repeated_split([0, 0, 0]).forest
    problem = PruningProblem(
        forest, [[0.0], [1.0]], [0, 1], error="held-out", sample_weight=np.array([1e-3, 1e-6])
    )
    path = problem.path(certify=True)
    assert path.n_splits.tolist() == [0]
    assert path.gap.tolist() == [0.0]


def test_a_split_that_neither_costs_nor_gains_stays_only_for_what_is_below():
    # 0 (price 1, gain 3/9) -> 1 (free, gain 0) -> 2 (price 1 for half of the rows, gain 1/9)
    forest = build_forest(
        tree_start=[0, 7],
        parent=[-1, 0, 1, 2, 2, 1, 0],
        feature=[0, 1, 2, -1, -1, -1, -1],
        threshold=[0.5, 0.5, 0.5, *[np.nan] * 4],
        value=np.eye(2)[[1, 0, 0, 0, 1, 0, 1]],
        class_weight=[[4, 5], [4, 1], [3, 1], [3, 0], [0, 1], [1, 0], [0, 4]],
        n_features=3,
    )
    X = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], dtype=float)
    path = PruningProblem(forest, X, costs=[1.0, 0.0, 1.0]).path()
    np.testing.assert_allclose(path.critical_lambda[:3], [3 / 9, 2 / 9, 2 / 9])
