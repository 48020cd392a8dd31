"""Conversion of block levels to nodes and incidences of the pruning problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.graph import ALWAYS, NEVER, Closure, number_pairs, uses_of_blocks
from budgetprune.solvers.parametric.graph_kernels import resolve_neutral, scatter_flow
from budgetprune.solvers.parametric.kernels import Network

if TYPE_CHECKING:
    from budgetprune.problem import PruningProblem


def node_levels(
    problem: PruningProblem, closure: Closure, of_block: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Critical lambda of every node, from the critical levels of the blocks."""
    # Two more entries for NEVER and ALWAYS, which are negative indices.
    levels = np.concatenate([of_block, [0.0, 0.0]])
    levels[ALWAYS], levels[NEVER] = np.inf, 0.0
    critical = levels[closure.block_of]
    forest = problem.forest
    neutral = forest.is_split & ~closure.is_paid & (closure.node_gain == 0)
    resolve_neutral(forest.left, forest.right, neutral, critical)
    return critical


def incidence_flow(problem: PruningProblem, closure: Closure, net: Network) -> NDArray[np.float64]:
    """Dual solution from the flow: one number per incidence."""
    number, _ = number_pairs(problem, closure.top)
    beta = np.zeros(problem.n_incidences)
    scatter_flow(
        uses_of_blocks(problem, closure.top),
        problem.use_start,
        number,
        net.arc_start,
        net.arc_stop,
        net.arc_pair,
        net.flow,
        np.zeros(len(net.price), np.int64),
        beta,
    )
    beta /= closure.unit
    return beta
