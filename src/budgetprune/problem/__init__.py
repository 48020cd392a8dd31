"""Pruning problems: node errors, costs, objective, bounds and certificates."""

from budgetprune.problem.certificate import Certificate
from budgetprune.problem.problem import PruningProblem
from budgetprune.problem.pruning import Pruning
from budgetprune.problem.solver import (
    PathSolver,
    Solver,
    find_path_solver,
    find_solver,
    has_path,
    path_solvers,
    register_solver,
    unregister_solver,
)

__all__ = [
    "Certificate",
    "PathSolver",
    "Pruning",
    "PruningProblem",
    "Solver",
    "find_path_solver",
    "find_solver",
    "has_path",
    "path_solvers",
    "register_solver",
    "unregister_solver",
]
