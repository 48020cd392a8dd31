"""Optimality certificates: lower bounds on the objective from any multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem.pairs import UsesBySource, rows_of_use, sort_uses_by_source, uses_of_source
from budgetprune.utils.jit import njit, prange

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem


@dataclass(frozen=True)
class Certificate:
    """Bound on the distance of a pruning from the optimum.

    Attributes
    ----------
    objective : float
        Error plus lambda times cost, recomputed from the pruning alone.
    bound : float
        No pruning has a smaller objective; computed from the multipliers alone.
    gap : float
        Their difference, relative to the objective of the forest that is pruned to its roots
        (`PruningProblem.scale`).
    """

    objective: float
    bound: float
    gap: float

    @classmethod
    def of(cls, objective: float, bound: float, scale: float) -> Certificate:
        """Relative gap; if the scale is 0, only the optimum has a finite gap."""
        excess = objective - bound
        gap = excess / scale if scale > 0 else 0.0 if excess <= 0 else float("inf")
        return cls(objective, bound, gap)


def dual_value(problem: PruningProblem, beta: NDArray[np.float64], lam: float) -> float:
    """Minimise the Lagrangian at `beta`: trees and sources separate.

    The constraint "a split that stays has its sources" is dropped, and beta is paid for it instead: by the
    trees where they first use a source, to the rows that acquire it.
    """
    forest = problem.forest
    charge = lam * problem.computation + paid_at_nodes(problem, beta)
    trees = tree_values(forest.tree_start, forest.right, problem.error, charge)
    sources = overpaid(beta, lam * problem.costs.price, problem.row_weight, sort_uses_by_source(problem))
    return float(trees.sum() + sources.sum())


def paid_at_nodes(problem: PruningProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up beta at each node (B_h)."""
    paid: NDArray[np.float64] = add_up_uses(
        problem.forest.n_nodes, problem.use_tree_start, problem.use_node, problem.use_start, beta
    )
    return paid


@njit(cache=True, parallel=True)
def add_up_uses(
    n_nodes: int,
    use_tree_start: NDArray[np.int64],
    use_node: NDArray[np.int32],
    use_start: NDArray[np.int64],
    beta: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up beta over the incidences of each node; no two trees share one."""
    paid = np.zeros(n_nodes)
    for t in prange(use_tree_start.size - 1):
        for k in range(use_tree_start[t], use_tree_start[t + 1]):
            for a in range(use_start[k], use_start[k + 1]):
                paid[use_node[k]] += beta[a]
    return paid


@njit(cache=True)
def tree_value(
    root: int, end: int, right: NDArray[np.int32], error: NDArray[np.float64], charge: NDArray[np.float64]
) -> float:
    """Find the best pruning of one tree that pays for its splits: its "shortest path", by recursion.

    ``V(h) = min(error[h], charge + V(left) + V(right))``, where `charge` lists the nodes of this tree only.
    """
    value = error[root:end].copy()
    for h in range(end - 1, root - 1, -1):
        if right[h] >= 0:
            value[h - root] = min(error[h], charge[h - root] + value[h + 1 - root] + value[right[h] - root])
    return float(value[0])


@njit(cache=True, parallel=True)
def tree_values(
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    error: NDArray[np.float64],
    charge: NDArray[np.float64],
) -> NDArray[np.float64]:
    """V(root) of every tree."""
    values = np.empty(tree_start.size - 1)
    for t in prange(values.size):
        root, end = tree_start[t], tree_start[t + 1]
        values[t] = tree_value(root, end, right, error, charge[root:end])
    return values


@njit(cache=True)
def overpaid_for_source(
    beta: NDArray[np.float64],
    price: NDArray[np.float64],
    uses: UsesBySource,
    s: int,
) -> float:
    """Excess of the trees' payments over the price of one source, summed over rows: at most 0."""
    left = price  # unpaid part of each row's price
    for k in uses_of_source(uses, s):
        rows = rows_of_use(uses, k)
        for q in range(rows.size):
            left[rows[q]] -= beta[uses.use_start[k] + q]
    return float(np.minimum(left, 0.0).sum())


@njit(cache=True, parallel=True)
def overpaid(
    beta: NDArray[np.float64],
    price: NDArray[np.float64],
    row_weight: NDArray[np.float64],
    uses: UsesBySource,
) -> NDArray[np.float64]:
    """Excess of the trees' payments over the price of each source."""
    values = np.empty(price.size)
    # By source, not by tree: trees add to the same rows, and the order of additions changes the last bits.
    for s in prange(price.size):
        values[s] = overpaid_for_source(
            beta,
            price[s] * row_weight,
            uses,
            s,
        )
    return values
