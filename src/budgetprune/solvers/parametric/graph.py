"""Conversion of a pruning problem to an integer closure problem, with trivial decisions removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.parametric.graph_kernels import BlockUses, contract, fill_arcs, mark_pairs
from budgetprune.utils.threads import in_threads

if TYPE_CHECKING:
    from budgetprune.problem import PruningProblem

# Gains and losses add up to about this, so that sums of flows stay below 2**63 with room for rounding up.
TOTAL = 2.0**60
# Blocks whose arcs are listed together, on one thread.
CHUNK = 4096
# Gains that are not whole numbers are rounded to this fraction of the total: coarser than the rounding
# errors in sums of weights, so that gains that should add up to 0 do so; far finer than the promised gap.
GRAIN = 2.0**-48


@dataclass(frozen=True)
class Closure:
    """Blocks, pairs and arcs of the closure problem; the module of `Network` explains them.

    Attributes
    ----------
    unit : float
        Gains are multiplied by this before they are rounded to integers.
    block_of : int32 array of shape (n_nodes,)
        Block of each node, or NEVER, or ALWAYS.
    top : int32 array of shape (n_blocks,)
        The node of a block that is nearest to the root; only this one uses sources for the first time.
    parent, gain, arc_start, arc_pair, price
        As `Network` takes them.
    """

    unit: float
    node_gain: NDArray[np.int64]
    is_paid: NDArray[np.bool_]
    block_of: NDArray[np.int32]
    top: NDArray[np.int32]
    parent: NDArray[np.int32]
    gain: NDArray[np.int64]
    arc_start: NDArray[np.int64]
    arc_pair: NDArray[np.int32]
    price: NDArray[np.float64]


NEVER, ALWAYS = -1, -2  # of `Closure.block_of`: pruned even if free; kept at any price


def build_closure(problem: PruningProblem) -> Closure:
    """Trim, contract and number the problem."""
    forest = problem.forest
    node_gain, unit = integer_gains(problem)
    is_paid = problem.computation > 0
    is_paid[problem.use_node[np.diff(problem.use_start) > 0]] = True
    block_of, top, parent, gain = contract(forest.parent, forest.left, forest.right, is_paid, node_gain)
    number, price = number_pairs(problem, top)
    own = np.where(problem.computation[top] > 0, len(price) + np.cumsum(problem.computation[top] > 0) - 1, -1)
    price = np.concatenate([price, problem.computation[top][own >= 0]])
    arc_start, arc_pair = list_arcs(problem, top, number, own.astype(np.int32))
    return Closure(unit, node_gain, is_paid, block_of, top, parent, gain, arc_start, arc_pair, price)


def integer_gains(problem: PruningProblem) -> tuple[NDArray[np.int64], float]:
    """Scale the gains to integers that add up to about `TOTAL`.

    Counted errors stay exact up to one factor per tree, so that splits that break even in the problem break
    even here.
    """
    # If all gains are zero except for rounding, their sum is far smaller than the node errors. Scaling by it
    # would magnify rounding errors, so the scale of the node errors is a lower limit.
    total = max(float(np.abs(problem.gain).sum()), problem.scale)
    if total == 0:
        return np.zeros(len(problem.gain), np.int64), 1.0
    unit = TOTAL / total
    factor = unit / problem.denominator
    is_counted = np.array_equal(problem.lost_gain, np.rint(problem.lost_gain))
    if is_counted and factor.min() > GRAIN**-0.75 and factor.max() < TOTAL:
        whole = np.rint(factor).astype(np.int64)[problem.forest.tree_of_node]
        return problem.lost_gain.astype(np.int64) * whole, unit
    grain = int(TOTAL * GRAIN)
    return np.rint(problem.gain * (unit / grain)).astype(np.int64) * grain, unit


def number_pairs(
    problem: PruningProblem, top: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Number the (source, example) pairs that some block uses.

    Examples are taken in the order of the first tree's leaves: neighbours share nodes in the other trees too,
    so the pairs of a block are close together in memory.

    Returns
    -------
    number : int32 array of shape (n_sources, n_examples)
        Of each pair, or -1.
    price : float64 array of shape (n_pairs,)
    """
    number = np.full((problem.n_sources, problem.n_examples), -1, np.int32)
    mark_pairs(uses_of_blocks(problem, top), number)
    in_order = np.ascontiguousarray(number[:, problem.order[0]])
    used = in_order >= 0
    in_order[used] = np.arange(np.count_nonzero(used), dtype=np.int32)
    weight = np.broadcast_to(problem.row_weight[problem.order[0]], used.shape)[used]
    price = np.repeat(problem.costs.price, np.count_nonzero(used, axis=1)) * weight
    number[:, problem.order[0]] = in_order
    return number, price


def list_arcs(
    problem: PruningProblem, top: NDArray[np.int32], number: NDArray[np.int32], own: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the pairs that each block is the first of its tree to use, and its own pair for computation."""
    uses = uses_of_blocks(problem, top)
    start, stop = np.asarray(uses.start), np.asarray(uses.stop)
    n_arcs = problem.use_start[stop] - problem.use_start[start] + (own >= 0)
    arc_start = np.concatenate([[0], np.cumsum(n_arcs)])
    arc_pair = np.empty(arc_start[-1], np.int32)
    n_blocks = len(top)
    in_threads(
        lambda first: fill_arcs(uses, first, min(first + CHUNK, n_blocks), number, own, arc_start, arc_pair),
        range(0, n_blocks, CHUNK),
    )
    return arc_start, arc_pair


def uses_of_blocks(problem: PruningProblem, top: NDArray[np.int32]) -> BlockUses:
    """Look up the first uses of each block's top node; other nodes of a block have none."""
    return BlockUses(
        start=np.searchsorted(problem.use_node, top),
        stop=np.searchsorted(problem.use_node, top, side="right"),
        source=problem.use_source,
        tree=problem.forest.tree_of_node[top],
        row_start=problem.row_start[top],
        row_stop=problem.row_stop[top],
        order=problem.order,
    )
