"""Pruning problems: node errors, costs, objective, bounds and certificates."""

from budgetprune.problem.certificate import Certificate
from budgetprune.problem.estimate import (
    ErrorEstimate,
    ErrorRows,
    NodeStatistics,
    SplitGains,
    find_error_estimate,
    register_error_estimate,
    unregister_error_estimate,
)
from budgetprune.problem.estimates import HELD_OUT, IN_BAG, OUT_OF_BAG, POOLED
from budgetprune.problem.node_losses import (
    NodeLoss,
    find_node_loss,
    register_node_loss,
    unregister_node_loss,
)
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
    "HELD_OUT",
    "IN_BAG",
    "OUT_OF_BAG",
    "POOLED",
    "Certificate",
    "ErrorEstimate",
    "ErrorRows",
    "NodeLoss",
    "NodeStatistics",
    "PathSolver",
    "Pruning",
    "PruningProblem",
    "Solver",
    "SplitGains",
    "find_error_estimate",
    "find_node_loss",
    "find_path_solver",
    "find_solver",
    "has_path",
    "path_solvers",
    "register_error_estimate",
    "register_node_loss",
    "register_solver",
    "unregister_error_estimate",
    "unregister_node_loss",
    "unregister_solver",
]
