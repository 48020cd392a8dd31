"""The primal-dual solver against enumeration and linear program."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem
from budgetprune.solvers import lp as _lp
from budgetprune.solvers import primal_dual as _primal_dual
from budgetprune.solvers.primal_dual import block
from budgetprune.utils import parts
from budgetprune.utils.threads import kernel_threads

from ..oracles import LAMBDAS, boosted_case, random_case
from ..strategies import build_forest, cases, examples

SEEDS = range(10)
ROUNDING = 1e-12
MIDDLE = 0.01


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(1600, 12, n_informative=8, flip_y=0.1, random_state=0)
    return X[:1000], y[:1000], X[1000:]


@pytest.fixture(scope="module")
def forest(rows):
    return Forest.from_model(RandomForestClassifier(10, max_depth=7, random_state=0).fit(*rows[:2]))


@pytest.fixture(scope="module")
def problem(forest, rows):
    return PruningProblem(forest, rows[2])


@pytest.fixture(scope="module")
def optimum(problem):
    return problem.certify(_lp.solve(problem, MIDDLE)).objective


# --- What is promised ---------------------------------------------------------------------------------------


@pytest.mark.uncompiled
@pytest.mark.parametrize("draw", [random_case, boosted_case])
@pytest.mark.parametrize("seed", SEEDS)
def test_bound_best_objective_in_this_order(draw, seed):
    case = draw(seed)
    for lam in LAMBDAS:
        pruning = _primal_dual.solve(case.problem, lam)
        certificate, best = case.problem.certify(pruning), case.prunings.best(lam)
        assert certificate.bound <= best + ROUNDING
        assert best <= certificate.objective + ROUNDING
        assert certificate.gap <= 0.01
        assert np.all(pruning.report.bound <= best + ROUNDING)


@pytest.mark.uncompiled
@pytest.mark.usefixtures("one_thread")
@given(cases, st.floats(0, 1.2))
@examples(60)
def test_what_it_reports_is_what_it_returns(case, share):
    problem = case.problem
    pruning = _primal_dual.solve(problem, share * problem.path().lam[-1], gap=0.02)
    certificate, report = problem.certify(pruning), pruning.report
    assert report.objective[-1] == pytest.approx(certificate.objective, abs=1e-12 * problem.scale)
    assert report.bound[-1] == pytest.approx(certificate.bound, abs=1e-12 * problem.scale)


@pytest.mark.uncompiled
def test_a_split_that_loses_all_that_is_gained_below_it_is_not_taken_along():
    """It would pay for nothing, and what it pays must not be forgotten."""
    # 0 (gain -3) -> 1 (gain 3), both of feature 0; then 5 (gain 3.5) and 8 (gain 0.5), that share feature 1
    leaf = np.nan
    forest = build_forest(
        tree_start=[0, 5, 8, 11],
        parent=[-1, 0, 1, 1, 0, -1, 5, 5, -1, 8, 8],
        feature=[0, 0, -1, -1, -1, 1, -1, -1, 1, -1, -1],
        threshold=[1.5, 0.5, leaf, leaf, leaf, 0.5, leaf, leaf, 0.5, leaf, leaf],
        value=np.zeros((11, 2)),
        class_weight=np.ones((11, 2)),
        n_features=2,
    )
    forest = replace(forest, tree_round=[0, 1, 2], split_gain=[-3, 3, 0, 0, 0, 3.5, 0, 0, 0.5, 0, 0])
    problem = PruningProblem(forest, np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    pruning = _primal_dual.solve(problem, 3.0, gap=1e-3)
    assert np.flatnonzero(pruning.keep).tolist() == [5, 8]
    assert problem.certify(pruning).gap <= 1e-3


@pytest.mark.parametrize("gap", [0.01, 0.001, 1e-5])
def test_reaches_the_gap(problem, optimum, gap):
    pruning = _primal_dual.solve(problem, MIDDLE, gap=gap)
    certificate = problem.certify(pruning)
    assert certificate.gap <= gap + ROUNDING
    assert certificate.bound <= optimum + ROUNDING
    assert optimum <= certificate.objective + ROUNDING


@pytest.mark.parametrize("lam", [0.003, 0.01, 0.02, 0.03, 0.05])
def test_few_iterations_do(problem, lam):
    assert _primal_dual.solve(problem, lam).report.iterations <= 20


def test_reports_what_it_did(problem):
    pruning = _primal_dual.solve(problem, MIDDLE, gap=1e-4)
    report, certificate = pruning.report, problem.certify(pruning)
    assert report.converged
    assert report.objective.shape == report.bound.shape == (report.iterations,)
    assert np.all(np.diff(report.objective) <= 0)
    assert np.all(np.diff(report.bound) >= 0)
    assert report.objective[-1] == pytest.approx(certificate.objective, abs=ROUNDING)
    assert report.bound[-1] == pytest.approx(certificate.bound, abs=ROUNDING)
    assert report.gap == pytest.approx(certificate.gap, abs=ROUNDING)


def test_says_so_if_it_does_not_reach_the_gap(problem):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        pruning = _primal_dual.solve(problem, MIDDLE, gap=0.0, max_iterations=2)
    assert not pruning.report.converged
    assert pruning.report.iterations == 2
    assert problem.certify(pruning).gap == pytest.approx(pruning.report.gap, abs=ROUNDING)


def answer(problem, lam=MIDDLE):
    pruning = _primal_dual.solve(problem, lam, gap=1e-4)
    return pruning.keep, pruning.dual, pruning.report.objective, pruning.report.bound


def test_same_input_same_bits_with_any_number_of_threads(problem, monkeypatch):
    monkeypatch.setattr(block, "FEWEST_STEPS", 0)
    monkeypatch.setattr(parts, "FEWEST_STEPS", 0)
    first = answer(problem)
    with kernel_threads(1):
        second = answer(problem)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_units_of_cost_do_not_matter(forest, rows):
    """In other units, lambda and prices change, and nothing else does."""
    in_euros, in_cents = (
        PruningProblem(forest, rows[2], costs=unit * np.arange(1.0, 13.0)) for unit in (1, 64)
    )
    first, second = answer(in_euros, 0.004), answer(in_cents, 0.004 / 64)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("n_trees", [1, 10])
def test_trees_that_share_nothing_need_one_iteration(rows, n_trees):
    """One tree is a recursion; so are many trees if each price is 0 or lambda is."""
    X, y, X_cost = rows
    forest = Forest.from_model(RandomForestClassifier(n_trees, max_depth=5, random_state=0).fit(X, y))
    if n_trees == 1:
        answers = [_primal_dual.solve(PruningProblem(forest, X_cost), lam, gap=1e-12) for lam in LAMBDAS]
    else:
        free = PruningProblem(forest, X_cost, costs=np.zeros(12))
        answers = [_primal_dual.solve(PruningProblem(forest, X_cost), 0.0), _primal_dual.solve(free, 1.0)]
    assert all(pruning.report.iterations == 1 for pruning in answers)


def test_progress_bar_only_if_asked_for(problem, capsys):
    _primal_dual.solve(problem, MIDDLE)
    assert capsys.readouterr().err == ""
    _primal_dual.solve(problem, MIDDLE, verbose=True)
    assert "gap" in capsys.readouterr().err


def test_interrupt_leaves_nothing_behind(problem, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    before = answer(problem)
    with monkeypatch.context() as patch:
        patch.setattr(block, "share_prices", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _primal_dual.solve(problem, MIDDLE, verbose=True)
    assert all(np.array_equal(a, b) for a, b in zip(before, answer(problem), strict=True))


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"lam": -1.0}, "lam"),
        ({"lam": np.nan}, "lam"),
        ({"gap": -0.1}, "gap"),
        ({"gap": np.nan}, "gap"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"max_iterations": 2.5}, "max_iterations"),
    ],
)
def test_refuses_what_makes_no_sense(problem, options, culprit):
    with pytest.raises(InvalidInputError, match=culprit):
        _primal_dual.solve(problem, **{"lam": MIDDLE, **options})
