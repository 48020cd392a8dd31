from .acquisition import acquire_along as acquire_along
from .acquisition import sources_used as sources_used
from .boosted import boosted_errors as boosted_errors
from .boosted import check_boosted as check_boosted
from .boosting import recompute as recompute
from .certificate import Certificate as Certificate
from .checks import check_computation_weight as check_computation_weight
from .checks import check_critical_lambda as check_critical_lambda
from .errors import NodeErrors as NodeErrors
from .errors import check_estimate as check_estimate
from .errors import check_loss as check_loss
from .errors import node_errors as node_errors
from .estimate import (
    ERROR_ESTIMATES as ERROR_ESTIMATES,
)
from .estimate import (
    ErrorEstimate as ErrorEstimate,
)
from .estimate import (
    ErrorRows as ErrorRows,
)
from .estimate import (
    NodeStatistics as NodeStatistics,
)
from .estimate import (
    SplitGains as SplitGains,
)
from .estimate import (
    find_error_estimate as find_error_estimate,
)
from .estimate import (
    register_error_estimate as register_error_estimate,
)
from .estimate import (
    unregister_error_estimate as unregister_error_estimate,
)
from .estimates import HELD_OUT as HELD_OUT
from .estimates import IN_BAG as IN_BAG
from .estimates import OUT_OF_BAG as OUT_OF_BAG
from .estimates import POOLED as POOLED
from .gains import NewtonSums as NewtonSums
from .gains import split_gains as split_gains
from .node_losses import (
    BRIER as BRIER,
)
from .node_losses import (
    MISCLASSIFICATION as MISCLASSIFICATION,
)
from .node_losses import (
    NodeLoss as NodeLoss,
)
from .node_losses import (
    find_node_loss as find_node_loss,
)
from .node_losses import (
    node_losses_for as node_losses_for,
)
from .node_losses import (
    register_node_loss as register_node_loss,
)
from .node_losses import (
    unregister_node_loss as unregister_node_loss,
)
from .pair_kernels import UsesBySource as UsesBySource
from .pairs import sort_uses_by_source as sort_uses_by_source
from .problem import PruningProblem as PruningProblem
from .pruning import Pruning as Pruning
from .rows import RoutedRows as RoutedRows
from .rows import route as route
from .rows import sort_rows as sort_rows
from .solver import (
    SOLVERS as SOLVERS,
)
from .solver import (
    PathSolver as PathSolver,
)
from .solver import (
    Solver as Solver,
)
from .solver import (
    find_path_solver as find_path_solver,
)
from .solver import (
    find_solver as find_solver,
)
from .solver import (
    has_path as has_path,
)
from .solver import (
    path_options as path_options,
)
from .solver import (
    path_solvers as path_solvers,
)
from .solver import (
    register_solver as register_solver,
)
from .solver import (
    unregister_solver as unregister_solver,
)
from .tally import reached_weight as reached_weight
from .tally import tally_rows as tally_rows
from .targets import Labels as Labels
from .targets import as_targets as as_targets
from .targets import check_for_loss as check_for_loss
from .targets import class_weight as class_weight
from .targets import read_class_weight as read_class_weight
from .tradeoff import sum_of_kept as sum_of_kept
from .tree_errors import TreeErrors as TreeErrors
from .uses import first_use_splits as first_use_splits
