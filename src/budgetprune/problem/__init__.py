"""Pruning problems: node errors, costs, objective, bounds and certificates."""

from budgetprune.problem.acquisition import acquire_along, sources_used
from budgetprune.problem.boosting import recompute
from budgetprune.problem.certificate import Certificate
from budgetprune.problem.checks import check_critical_lambda
from budgetprune.problem.estimate import (
    ERROR_ESTIMATES,
    ErrorEstimate,
    ErrorRows,
    NodeStatistics,
    SplitGains,
    find_error_estimate,
    register_error_estimate,
    unregister_error_estimate,
)
from budgetprune.problem.estimates import HELD_OUT, IN_BAG, OUT_OF_BAG, POOLED
from budgetprune.problem.gains import NewtonSums, split_gains
from budgetprune.problem.node_losses import (
    BRIER,
    MISCLASSIFICATION,
    NodeLoss,
    find_node_loss,
    node_losses_for,
    register_node_loss,
    unregister_node_loss,
)
from budgetprune.problem.pairs import Walk, rows_of_use, uses_of_source, walk_by_source
from budgetprune.problem.problem import PruningProblem
from budgetprune.problem.pruning import Pruning
from budgetprune.problem.rows import partition_node
from budgetprune.problem.solver import (
    SOLVERS,
    PathSolver,
    Solver,
    find_path_solver,
    find_solver,
    has_path,
    path_options,
    path_solvers,
    register_solver,
    unregister_solver,
)
from budgetprune.problem.targets import Labels, check_for_loss
from budgetprune.problem.tradeoff import sum_of_kept

__all__ = [
    "BRIER",
    "ERROR_ESTIMATES",
    "HELD_OUT",
    "IN_BAG",
    "MISCLASSIFICATION",
    "OUT_OF_BAG",
    "POOLED",
    "SOLVERS",
    "Certificate",
    "ErrorEstimate",
    "ErrorRows",
    "Labels",
    "NewtonSums",
    "NodeLoss",
    "NodeStatistics",
    "PathSolver",
    "Pruning",
    "PruningProblem",
    "Solver",
    "SplitGains",
    "Walk",
    "acquire_along",
    "check_critical_lambda",
    "check_for_loss",
    "find_error_estimate",
    "find_node_loss",
    "find_path_solver",
    "find_solver",
    "has_path",
    "node_losses_for",
    "partition_node",
    "path_options",
    "path_solvers",
    "recompute",
    "register_error_estimate",
    "register_node_loss",
    "register_solver",
    "rows_of_use",
    "sources_used",
    "split_gains",
    "sum_of_kept",
    "unregister_error_estimate",
    "unregister_node_loss",
    "unregister_solver",
    "uses_of_source",
    "walk_by_source",
]
