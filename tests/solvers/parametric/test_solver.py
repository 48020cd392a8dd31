"""The exact solver against all prunings, one by one, and against the linear program."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budgetprune import BudgetWarning, InvalidInputError, PruningProblem

from ..oracles import Case, boosted_case, random_case
from ..strategies import cases, examples, generators

pytestmark = [pytest.mark.uncompiled, pytest.mark.usefixtures("one_thread")]

# Objectives are compared, and ties told from differences, relative to what gaps are relative to.
SAME, TIED = 1e-11, 1e-12
SIDES = (1 - 1e-6, 1.0, 1 + 1e-6)

in_between = st.lists(st.floats(0, 1), min_size=1, max_size=4)


def scale(problem: PruningProblem) -> float:
    """Objective of the forest that is pruned to its roots; all gains and losses, if it is boosted."""
    if problem.forest.is_boosted:
        return float(np.abs(problem.gain).sum())
    return problem.objective(np.zeros_like(problem.unpruned), 0.0)


def smallest_best(case: Case, lam: float) -> np.ndarray:
    """What all best prunings have in common: the smallest of them, since they form a lattice."""
    values = case.prunings.objective(lam)
    best = values <= values.min() + TIED * scale(case.problem)
    return case.prunings.keep[best].all(axis=0)


def check_best(case: Case, keep: np.ndarray, lam: float) -> None:
    """A pruning is best, and the smallest of the best ones."""
    excess = case.problem.objective(keep, lam) - case.prunings.best(lam)
    assert abs(excess) <= SAME * scale(case.problem)
    np.testing.assert_array_equal(keep, smallest_best(case, lam))


def around_breakpoints(lam: np.ndarray, others: list[float]) -> np.ndarray:
    """Every breakpoint, a little less, a little more, and some lambdas anywhere."""
    span = lam[-1] if lam[-1] > 0 else 1.0
    return np.unique([*np.outer(SIDES, lam).ravel(), *(1.2 * span * np.array(others))])


# --- The ladder of oracles ----------------------------------------------------------------------------------


@given(cases, in_between)
@examples(250)
def test_the_path_knows_the_smallest_best_pruning_of_every_lambda(case, others):
    path = case.problem.path()
    assert path.complete
    for lam in around_breakpoints(path.lam, others):
        check_best(case, path.at(lam=lam).keep, lam)


@given(cases, in_between)
@examples(120)
def test_a_grid_and_a_single_lambda_find_the_smallest_best_pruning(case, others):
    lams = around_breakpoints(case.problem.path().lam, others)
    grid = case.problem.path(lams=lams)
    np.testing.assert_array_equal(grid.lam, lams)
    for lam in lams:
        for pruning in (grid.at(lam=lam), case.problem.solve(lam)):
            assert pruning.lam == lam
            check_best(case, pruning.keep, lam)


@given(cases, in_between)
@examples(40)
def test_the_linear_program_agrees(case, others):
    path = case.problem.path()
    for lam in around_breakpoints(path.lam, others):
        by_lp = case.problem.objective(case.problem.solve(lam, solver="lp").keep, lam)
        by_flow = case.problem.objective(path.at(lam=lam).keep, lam)
        # HiGHS stops within a tolerance of its own.
        assert by_lp == pytest.approx(by_flow, abs=1e-7 * max(scale(case.problem), 1.0))


@given(cases, st.sampled_from([7.0, 20.0, 1e3, 1e9, 1e30]))
@examples(60)
def test_lambdas_far_beyond_the_path(case, factor):
    lam = factor * max(case.problem.path().lam[-1], 1.0)
    one, grid = case.problem.solve(lam), case.problem.path(lams=[0.0, lam])
    for pruning in (one, grid[-1], case.problem.path().at(lam=lam)):
        check_best(case, pruning.keep, lam)
    assert case.problem.certify(one).gap <= 1e-9


@pytest.mark.parametrize("draw", [random_case, boosted_case])
@pytest.mark.parametrize("seed", range(12))
def test_forests_that_were_grown(draw, seed):
    case = draw(seed)
    path = case.problem.path(certify=True)
    assert path.gap.max() <= 1e-9
    for lam in around_breakpoints(path.lam, [0.2, 0.5, 0.9]):
        check_best(case, path.at(lam=lam).keep, lam)


# --- One engine ---------------------------------------------------------------------------------------------


@given(cases, st.sampled_from([0.05, 0.3, 1.0, 5.0]), st.booleans())
@examples(120)
def test_points_of_a_resolution_are_best_and_no_further_apart(case, resolution, certify):
    complete = case.problem.path()
    coarse = case.problem.path(resolution=resolution, certify=certify)
    assert len(coarse) == 1 or not coarse.complete
    for pruning in coarse:
        check_best(case, pruning.keep, pruning.lam)
        np.testing.assert_array_equal(pruning.keep, complete.at(lam=pruning.lam).keep)
    assert coarse.lam[0] == 0
    assert coarse.cost[-1] == complete.cost[-1]
    check_steps(coarse.cost, complete.cost, resolution)


def check_steps(cost: np.ndarray, complete: np.ndarray, resolution: float) -> None:
    """Neighbours differ by no more than the resolution, unless there is nothing between them."""
    for above, below in pairwise(cost):
        between = complete[(complete < above - 1e-12) & (complete > below + 1e-12)]
        assert above - below <= resolution + 1e-12 or not between.size


@given(cases)
@examples(40)
def test_a_grid_of_all_breakpoints_is_the_complete_path(case):
    path = case.problem.path()
    grid = case.problem.path(lams=path.lam[::-1])
    for name in ("lam", "error", "cost", "n_splits", "objective"):
        np.testing.assert_array_equal(getattr(grid, name), getattr(path, name))
    for one, other in zip(grid, path, strict=True):
        np.testing.assert_array_equal(one.keep, other.keep)


# --- Certificates -------------------------------------------------------------------------------------------


@given(cases, in_between)
@examples(120)
def test_every_point_is_proven(case, others):
    problem = case.problem
    path = problem.path(certify=True)
    lams = around_breakpoints(path.lam, others)
    grid = problem.path(lams=lams, certify=True)
    coarse = problem.path(resolution=0.3, certify=True)
    for proven in (path, grid, coarse):
        assert proven.gap.max() <= 1e-9
        for lam, bound in zip(proven.lam, proven.bound, strict=True):
            assert bound <= case.prunings.best(lam) + SAME * scale(problem)
    np.testing.assert_array_equal(path.critical_lambda, problem.path().critical_lambda)
    for lam in lams[:: max(1, len(lams) // 4)]:
        assert problem.certify(problem.solve(lam)).gap <= 1e-9


@given(cases, st.floats(0, 1), generators)
@examples(60)
def test_a_certificate_cannot_be_talked_into_a_wrong_bound(case, share, rng):
    problem = case.problem
    lam = share * max(problem.path().lam[-1], 0.01)
    honest = problem.solve(lam)
    noise = rng.exponential(size=problem.n_incidences)
    for dual in (honest.dual * 2, honest.dual * noise, honest.dual + 0.1 * noise, 0 * honest.dual):
        certificate = problem.certify(honest, dual=dual)
        assert certificate.bound <= case.prunings.best(lam) + SAME * scale(problem)


@pytest.mark.parametrize("seed", [0, 2, 5, 6, 7])
def test_a_certificate_notices_a_missing_split_and_a_changed_dual(seed):
    problem = random_case(seed).problem
    lam = problem.path().lam[-1] / 2
    assert lam > 0
    honest = problem.solve(lam)
    last = np.flatnonzero(honest.keep)[-1]  # nothing that stays is below it
    keep = honest.keep.copy()
    keep[last] = False
    worse = problem.pruning(keep, lam)
    excess = problem.objective(keep, lam) - problem.objective(honest.keep, lam)
    assert excess > 0
    certificate = problem.certify(worse, dual=honest.dual)
    assert certificate.gap == pytest.approx(excess / scale(problem), rel=1e-6)
    assert certificate.gap > 1e-6
    assert problem.certify(honest, dual=np.zeros_like(honest.dual)).gap > 1e-6
    with pytest.raises(InvalidInputError, match="entry >= 0 for each"):
        problem.certify(honest, dual=-1 - honest.dual)


# --- Determinism --------------------------------------------------------------------------------------------


@given(cases)
@examples(25)
def test_same_input_same_bits(case):
    first, second = (case.problem.path(certify=True) for _ in range(2))
    for name in ("critical_lambda", "lam", "error", "cost", "n_splits", "objective", "bound", "gap"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    lam = first.lam[-1] / 2
    one, other = (case.problem.solve(lam) for _ in range(2))
    assert one.dual.tobytes() == other.dual.tobytes()


# --- What a user may type -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def problem() -> PruningProblem:
    return random_case(1).problem


def test_an_unknown_solver_is_told_the_choices(problem):
    with pytest.raises(InvalidInputError, match="'simplex'; there are parametric, primal-dual, lp"):
        problem.solve(0.1, solver="simplex")


@pytest.mark.parametrize("solver", ["parametric", "lp"])
@pytest.mark.parametrize("lam", [-0.1, np.nan, np.inf, "much", None])
def test_a_price_that_is_none(problem, solver, lam):
    with pytest.raises(InvalidInputError, match="finite number"):
        problem.solve(lam, solver=solver)


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("lams", [[], [0.1, -0.1], [0.1, np.nan], [np.inf], ["much"]])
def test_a_grid_that_is_none(problem, lams, certify):
    with pytest.raises(InvalidInputError, match=r"lam must be a finite number|lams is empty"):
        problem.path(lams=lams, certify=certify)


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("resolution", [0, -1.0, np.nan, np.inf])
def test_a_resolution_that_is_none(problem, resolution, certify):
    with pytest.raises(InvalidInputError, match="resolution must be a"):
        problem.path(resolution=resolution, certify=certify)


def test_grid_and_resolution_exclude_each_other(problem):
    with pytest.raises(InvalidInputError, match="only one of lams, budgets and resolution"):
        problem.path(lams=[0.1], resolution=0.5)


@pytest.mark.parametrize("options", [{}, {"lams": [0.0, 0.1]}, {"resolution": 0.5}, {"certify": True}])
def test_progress_is_shown_only_on_request(problem, capfd, options):
    problem.path(**options)
    problem.solve(0.01)
    assert capfd.readouterr() == ("", "")
    problem.path(**options, verbose=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "path" in shown.err
    problem.solve(0.01, verbose=True)
    assert "split" in capfd.readouterr().err


@given(cases, in_between, st.booleans())
@examples(120)
def test_path_at_budgets_is_the_complete_path_there(case, shares, certify):
    problem = case.problem
    complete = problem.path()
    budgets = complete.cost[0] * np.array(shares)
    assume(not problem.computation.any())
    near = problem.path(budgets=budgets, certify=certify)
    for budget in budgets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BudgetWarning)
            expected, found = complete.at(budget=budget), near.at(budget=budget)
        assert found.cost == pytest.approx(expected.cost, rel=1e-12)
        assert found.error == pytest.approx(expected.error, rel=1e-9, abs=1e-12)
