"""The comparison of solvers: all exact ones agree, gaps are certified, and what is too slow is said so."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, PruningProblem
from budgetprune.errors import SolverError
from budgetprune_experiments import Options
from budgetprune_experiments import flow_peer as _flow_peer
from budgetprune_experiments.solver_trials import GAP, LP, ORTOOLS, PRIMAL_DUAL, SOLVERS, try_solver
from budgetprune_experiments.solvers import Size, Solvers, _exponent


@pytest.fixture(scope="module")
def problem():
    X, y = make_classification(240, 8, n_informative=5, flip_y=0.1, random_state=0)
    model = RandomForestClassifier(4, max_features=None, random_state=0).fit(X[:140], y[:140])
    return PruningProblem(Forest.from_model(model), X[140:])


def test_every_solver_is_certified(problem):
    trials = {solver: try_solver(solver, problem, 0.01, 60.0) for solver in SOLVERS}
    assert all(trial["seconds"] > 0 for trial in trials.values())
    assert trials.pop(PRIMAL_DUAL)["gap"] <= GAP
    assert all(abs(trial["gap"]) < 1e-9 for trial in trials.values())


def test_ortools_finds_our_optimum_and_its_flow_proves_it(problem):
    for lam in (0.003, 0.02):
        theirs, seconds = _flow_peer.solve_in_own_process(problem, lam)
        ours = problem.solve(lam)
        assert seconds > 0
        assert problem.certify(theirs).gap < 1e-9
        assert problem.objective(theirs.keep, lam) == pytest.approx(problem.objective(ours.keep, lam))


def test_ortools_that_is_missing_or_fails(problem, monkeypatch):
    def failing(command, **options):
        return subprocess.run([sys.executable, "-c", "raise RuntimeError('no memory')"], **options)

    monkeypatch.setattr(_flow_peer, "subprocess", type("fake", (), {"run": staticmethod(failing)}))
    with pytest.raises(SolverError, match=r"status 1.*no memory"):
        _flow_peer.solve_in_own_process(problem, 0.01)
    monkeypatch.setattr(_flow_peer, "find_spec", lambda name: None)
    assert try_solver(ORTOOLS, problem, 0.01, 60.0) == {
        "seconds": None,
        "gap": None,
        "note": "OR-tools is not installed",
    }


def test_a_linear_program_that_is_too_slow(problem):
    assert try_solver(LP, problem, 0.01, 1e-6) == {"seconds": None, "gap": None, "note": "more than 1e-06 s"}


def test_what_is_larger_than_too_slow_is_not_tried(monkeypatch):
    options, tried = Options(quick=True), []

    def slow(solver, problem, lam, limit):
        tried.append((solver, problem.forest.n_trees, problem.n_examples))
        return {
            "seconds": None if solver == LP and problem.n_examples > 60 else 0.5,
            "gap": 0.0,
            "note": "slow",
        }

    monkeypatch.setattr("budgetprune_experiments.solvers.try_solver", slow)
    monkeypatch.setattr("budgetprune_experiments.solvers._warm_up", lambda: None)
    experiment, too_slow = Solvers(), []
    for size in (Size(2, 60), Size(2, 90), Size(3, 120), Size(3, 60)):
        records = experiment._run(0, size, too_slow, options)
        assert [record["solver"] for record in records] == list(SOLVERS)
    assert [case[1:] for case in tried if case[0] == LP] == [(2, 60), (2, 90), (3, 60)]


def test_exponents_are_slopes_of_logarithms():
    records = [{"n_rows": n, "seconds": 3e-4 * n**1.5} for n in (1, 100, 200, 400)]
    assert _exponent(records, "n_rows") == pytest.approx(1.5)
    assert _exponent(records[:2], "n_rows") is None, "what is too short to be measured does not count"


def test_sizes_meet_in_one_problem():
    experiment = Solvers()
    sizes = experiment.sizes(Options())
    settings = experiment.settings(Options())
    assert len(sizes) == len(settings["trees"]) + len(settings["rows"]) - 1
    assert np.all(np.diff([size.n_trees * size.n_rows for size in sizes]) >= 0)
