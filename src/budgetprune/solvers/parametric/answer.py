"""Conversion of block levels to nodes and incidences of the pruning problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.graph import (
    ALWAYS,
    NEVER,
    BlockUses,
    Closure,
    number_pairs,
    uses_of_blocks,
)
from budgetprune.solvers.parametric.network import IntArray, Network
from budgetprune.utils.jit import njit

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


@njit(cache=True)
def resolve_neutral(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    neutral: NDArray[np.bool_],
    critical: NDArray[np.float64],
) -> None:
    """Keep a split without cost and gain only as long as a split below it is kept."""
    for h in range(left.size - 1, -1, -1):
        if neutral[h]:
            critical[h] = max(critical[left[h]], critical[right[h]])


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


@njit(cache=True)
def scatter_flow(
    uses: BlockUses,
    use_start: NDArray[np.int64],
    number: NDArray[np.int32],
    arc_start: IntArray,
    arc_stop: IntArray,
    arc_pair: NDArray[np.int32],
    flow: NDArray[np.int64],
    to_pair: NDArray[np.int64],
    beta: NDArray[np.float64],
) -> None:
    """Look up the flow of every incidence; removed arcs carry none. `to_pair` is all zeros."""
    for b in range(uses.tree.size):
        rows = uses.order[uses.tree[b]]
        for a in range(arc_start[b], arc_stop[b]):
            to_pair[arc_pair[a]] = flow[a]
        for k in range(uses.start[b], uses.stop[b]):
            for q in range(uses.row_start[b], uses.row_stop[b]):
                beta[use_start[k] + q - uses.row_start[b]] = to_pair[number[uses.source[k], rows[q]]]
        for a in range(arc_start[b], arc_stop[b]):
            to_pair[arc_pair[a]] = 0
