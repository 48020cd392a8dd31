"""The comparison of solvers: all exact ones agree, gaps are certified, and what is too slow is said so."""

import subprocess
import sys

import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, PruningProblem
from budgetprune.errors import SolverError
from budgetprune_experiments import flow_peer as _flow_peer
from budgetprune_experiments.solver_trials import GAP, LP, ORTOOLS, PRIMAL_DUAL, SOLVERS, try_solver


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
