"""Time one solver on one problem, and certify its solution."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter

from sklearn.exceptions import ConvergenceWarning

from budgetprune.errors import SolverError
from budgetprune.problem import PruningProblem
from budgetprune.problem.pruning import Pruning
from budgetprune_experiments import flow_peer as _flow_peer
from budgetprune_experiments.experiment import Record

LP, PRIMAL_DUAL, PARAMETRIC, PATH, ORTOOLS = (
    "lp",
    "primal-dual",
    "parametric",
    "parametric, whole path",
    "OR-tools",
)
# The paper stops "when the duality gap is small enough".
GAP = 0.01


def try_solver(solver: str, problem: PruningProblem, lam: float, time_limit: float) -> Record:
    """Solve and certify.

    Returns
    -------
    record : dict
        "seconds" and the certified "gap", both None without a solution; "note" has the reason or another
        remark. Only the linear program has a time limit.
    """
    try:
        return _TRIALS[solver](problem, lam, time_limit)
    except SolverError as error:
        return _nothing(str(error))


def _lp(problem: PruningProblem, lam: float, time_limit: float) -> Record:
    start = perf_counter()
    try:
        pruning = problem.solve(lam, solver="lp", time_limit=time_limit)
    except SolverError as error:
        if "ime limit" not in str(error):
            raise
        return _nothing(f"more than {time_limit:g} s")
    return _certified(problem, pruning, perf_counter() - start)


def _primal_dual(problem: PruningProblem, lam: float, time_limit: float) -> Record:
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is reported anyway
        pruning = problem.solve(lam, solver="primal-dual", gap=GAP)
    seconds = perf_counter() - start
    iterations = getattr(pruning.report, "iterations", None)
    return _certified(problem, pruning, seconds, f"{iterations} iterations")


def _parametric(problem: PruningProblem, lam: float, time_limit: float) -> Record:
    start = perf_counter()
    pruning = problem.solve(lam)
    return _certified(problem, pruning, perf_counter() - start)


def _path(problem: PruningProblem, lam: float, time_limit: float) -> Record:
    start = perf_counter()
    path = problem.path()
    seconds = perf_counter() - start
    gaps = problem.path(certify=True).gap
    assert gaps is not None
    return {"seconds": seconds, "gap": float(gaps.max()), "note": f"{len(path)} prunings"}


def _ortools(problem: PruningProblem, lam: float, time_limit: float) -> Record:
    if not _flow_peer.is_installed():
        return _nothing("OR-tools is not installed")
    return _certified(problem, *_flow_peer.solve_in_own_process(problem, lam))


def _certified(problem: PruningProblem, pruning: Pruning, seconds: float, note: str = "") -> Record:
    return {"seconds": seconds, "gap": problem.certify(pruning).gap, "note": note}


def _nothing(note: str) -> Record:
    return {"seconds": None, "gap": None, "note": note}


_TRIALS: dict[str, Callable[[PruningProblem, float, float], Record]] = {
    LP: _lp,
    PRIMAL_DUAL: _primal_dual,
    PARAMETRIC: _parametric,
    PATH: _path,
    ORTOOLS: _ortools,
}
SOLVERS = tuple(_TRIALS)
