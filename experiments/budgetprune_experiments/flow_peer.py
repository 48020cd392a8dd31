"""Optimal pruning by OR-tools in a separate process, with its flow as the certificate."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import SolverError
from budgetprune.problem import PruningProblem
from budgetprune.problem.pruning import Pruning
from budgetprune.solvers.parametric.answer import node_levels
from budgetprune.solvers.parametric.graph import Closure, build_closure, number_pairs, uses_of_blocks
from budgetprune.solvers.parametric.graph_kernels import scatter_flow

SCRIPT = Path(__file__).with_name("ortools_flow.py")


def is_installed() -> bool:
    """Whether OR-tools is installed."""
    return find_spec("ortools") is not None


def solve_in_own_process(problem: PruningProblem, lam: float) -> tuple[Pruning, float]:
    """Find the best pruning for one lambda as a minimum cut.

    Returns
    -------
    pruning : Pruning
        Its `dual` is OR-tools' flow.
    seconds : float
        For passing the graph to OR-tools and solving it. The graph is the one that our solver builds,
        trimmed and contracted; that, the start of the process and the files between are not counted.
    """
    closure = build_closure(problem)
    with TemporaryDirectory() as folder:
        graph, answer = Path(folder, "graph.npz"), Path(folder, "answer.npz")
        np.savez(
            graph,
            gain=closure.gain,
            parent=closure.parent,
            arc_start=closure.arc_start,
            arc_pair=closure.arc_pair,
            price=closure.price * closure.unit,
        )
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(graph), repr(lam), str(answer)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise SolverError(f"OR-tools failed in its own process (status {done.returncode}): {last}")
        with np.load(answer) as stored:
            keep, flow, seconds = stored["keep"], stored["flow"], float(stored["seconds"])
    levels = node_levels(problem, closure, np.where(keep, np.inf, 0.0))
    return problem.pruning(levels > 0, lam, dual=_dual(problem, closure, flow)), seconds


def _dual(problem: PruningProblem, closure: Closure, flow: NDArray[np.int64]) -> NDArray[np.float64]:
    number, _ = number_pairs(problem, closure.top)
    beta = np.zeros(problem.n_incidences)
    scatter_flow(
        uses_of_blocks(problem, closure.top),
        problem.use_start,
        number,
        closure.arc_start[:-1],
        closure.arc_start[1:],
        closure.arc_pair,
        flow,
        np.zeros(len(closure.price), np.int64),
        beta,
    )
    beta /= closure.unit
    return beta
