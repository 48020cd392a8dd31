"""Solver protocol and registry.

A `PruningProblem` finds its solvers here by name. `budgetprune.solvers` registers those of the package when
it is imported; other packages can register more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from budgetprune.errors import InvalidInputError
from budgetprune.utils.registry import Registry

if TYPE_CHECKING:
    from budgetprune.path import PruningPath
    from budgetprune.problem.problem import PruningProblem
    from budgetprune.problem.pruning import Pruning


@runtime_checkable
class Solver(Protocol):
    """Method that finds the best pruning of a problem."""

    @property
    def name(self) -> str:
        """Value of the parameter ``solver``."""
        ...

    def solve(self, problem: PruningProblem, lam: float, **options: Any) -> Pruning:
        """Find the best pruning for one `lam`, with a `dual` that `PruningProblem.certify` can use."""
        ...


@runtime_checkable
class PathSolver(Solver, Protocol):
    """Solver that also finds the best prunings for all `lam`.

    If its `path` takes any of the options ``budgets``, ``resolution`` and ``verbose`` of
    `budgetprune.solvers.path`, it may have an attribute `path_options` with their names. Estimators then use
    them to save time while they compare candidates; without them, they compute whole paths.
    """

    def path(self, problem: PruningProblem, **options: Any) -> PruningPath:
        """Find the best prunings for all `lam`."""
        ...


SOLVERS: Registry[Solver] = Registry("solver", ("budgetprune.solvers:BUILT_IN",), base=Solver)
register_solver = SOLVERS.register
unregister_solver = SOLVERS.unregister
find_solver = SOLVERS.find


def has_path(name: str) -> bool:
    """Whether the solver called `name` computes whole paths."""
    return isinstance(find_solver(name), PathSolver)


def find_path_solver(name: str) -> PathSolver:
    """Return the solver called `name`; raise InvalidInputError if it cannot compute paths."""
    solver = find_solver(name)
    if not isinstance(solver, PathSolver):
        raise InvalidInputError(
            f"solver={name!r} solves for one lam at a time; use problem.solve(lam, solver={name!r}), or a "
            f"solver that computes paths: {', '.join(path_solvers())}."
        )
    return solver


def path_options(solver: PathSolver, **options: Any) -> dict[str, Any]:
    """Return the options that the solver declares in its `path_options`."""
    taken = getattr(solver, "path_options", ())
    return {name: value for name, value in options.items() if name in taken}


def path_solvers() -> tuple[str, ...]:
    """Names of the solvers that compute whole paths."""
    return tuple(each.name for each in SOLVERS if isinstance(each, PathSolver))
