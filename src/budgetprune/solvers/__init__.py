"""Verbs on a `PruningProblem`: three ways to the same answer.

=============  ==========================================================================================
`parametric`   exact and fast: the whole path from one parametric maximum flow
`primal-dual`  the paper's Algorithm 1: trees on their own, agreed by prices; a bound, not an exact answer
`lp`           the paper's program (IP), relaxed; for reference
=============  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError
from budgetprune.solvers import lp as _lp
from budgetprune.solvers import parametric
from budgetprune.solvers import primal_dual as _primal_dual
from budgetprune.solvers.parametric import path

if TYPE_CHECKING:
    from budgetprune.problem import PruningProblem
    from budgetprune.problem.pruning import Pruning

__all__ = ["SOLVERS", "path", "solve"]

SOLVERS: dict[str, Callable[..., Pruning]] = {
    "parametric": parametric.solve,
    "primal-dual": _primal_dual.solve,
    "lp": _lp.solve,
}


def solve(problem: PruningProblem, lam: float, solver: str = "parametric", **options: Any) -> Pruning:
    """Find the best pruning for one `lam`.

    Parameters
    ----------
    problem : PruningProblem
    lam : float
        Price of a unit of cost, in units of error.
    solver : {"parametric", "primal-dual", "lp"}
    **options
        Of the solver.

    Returns
    -------
    Pruning
        With a `dual` that `problem.certify` turns into a proof.
    """
    if solver not in SOLVERS:
        raise InvalidInputError(f"no solver is called {solver!r}; there are {', '.join(SOLVERS)}.")
    return SOLVERS[solver](problem, lam, **options)
