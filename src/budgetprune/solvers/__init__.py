"""Solvers of a `PruningProblem`.

=============  =========================================================================================
`parametric`   exact and fast: the whole path from one parametric maximum flow
`primal-dual`  Algorithm 1 of the paper: trees are solved separately and agree through prices; approximate
`lp`           linear relaxation of program (IP) of the paper; for reference
=============  =========================================================================================

The registry of the problem package finds all three in `BUILT_IN`.
"""

from __future__ import annotations

import warnings
from typing import Any

from budgetprune.path import PruningPath
from budgetprune.problem import SOLVERS as _SOLVERS
from budgetprune.problem import Pruning, PruningProblem, find_solver
from budgetprune.solvers import parametric as _parametric
from budgetprune.solvers import primal_dual as _primal_dual
from budgetprune.solvers.parametric import path
from budgetprune.solvers.primal_dual import (
    STEPS_PER_DOUBLING,
    Block,
    BlockRows,
    Iterate,
    PrimalDualReport,
    RowSums,
    Search,
    Target,
    Trees,
    as_units,
    check_options,
    fractional_powers,
    relevant_uses,
    rows_of,
    units_of_weight,
    warn_of_gap,
)

__all__ = [
    "STEPS_PER_DOUBLING",
    "Block",
    "BlockRows",
    "Iterate",
    "LPSolver",
    "ParametricSolver",
    "PrimalDualReport",
    "PrimalDualSolver",
    "RowSums",
    "Search",
    "Target",
    "Trees",
    "as_units",
    "check_options",
    "fractional_powers",
    "path",
    "relevant_uses",
    "rows_of",
    "solve",
    "units_of_weight",
    "warn_of_gap",
]


class ParametricSolver:
    """Exact solver that computes whole paths; see `budgetprune.solvers.parametric`."""

    name = "parametric"
    path_options = ("budgets", "resolution", "verbose")

    def solve(self, problem: PruningProblem, lam: float, **options: Any) -> Pruning:
        return _parametric.solve(problem, lam, **options)

    def path(self, problem: PruningProblem, **options: Any) -> PruningPath:
        return _parametric.path(problem, **options)


class PrimalDualSolver:
    """Algorithm 1 of the paper; see `budgetprune.solvers.primal_dual`."""

    name = "primal-dual"

    def solve(self, problem: PruningProblem, lam: float, **options: Any) -> Pruning:
        return _primal_dual.solve(problem, lam, **options)


class LPSolver:
    """Linear program, for reference; see `budgetprune.solvers.lp`."""

    name = "lp"

    def solve(self, problem: PruningProblem, lam: float, **options: Any) -> Pruning:
        from budgetprune.solvers import lp  # SciPy is large, and workers that hold rows do not need it

        return lp.solve(problem, lam, **options)


def __getattr__(name: str) -> Any:
    if name == "SOLVERS":
        warnings.warn(
            "budgetprune.solvers.SOLVERS is deprecated; use SOLVERS of budgetprune.problem.",
            DeprecationWarning,
            stacklevel=2,
        )
        return _SOLVERS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


BUILT_IN = (ParametricSolver(), PrimalDualSolver(), LPSolver())


def solve(problem: PruningProblem, lam: float, solver: str = "parametric", **options: Any) -> Pruning:
    """Find the best pruning for one `lam`; the same as ``problem.solve(lam, solver, **options)``."""
    return find_solver(solver).solve(problem, lam, **options)
