"""Optimality certificates: lower bounds on the objective from any multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem.pair_kernels import overpaid, sum_uses, tree_values
from budgetprune.problem.pairs import sort_uses_by_source
from budgetprune.utils.parts import in_parts, in_ranges

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
    trees = np.empty(forest.n_trees)
    in_ranges(
        lambda first, last: tree_values(
            first, last, forest.tree_start, forest.right, problem.error, charge, trees
        ),
        forest.n_trees,
        n_steps=forest.n_nodes,
    )
    return float(trees.sum() + overpaid_by_source(problem, beta, lam).sum())


def paid_at_nodes(problem: PruningProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up beta at each node (B_h)."""
    paid = np.zeros(problem.forest.n_nodes)
    in_ranges(
        lambda first, last: sum_uses(
            first, last, problem.use_tree_start, problem.use_node, problem.use_start, beta, paid
        ),
        problem.forest.n_trees,
        n_steps=problem.n_incidences,
    )
    return paid


def overpaid_by_source(problem: PruningProblem, beta: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
    """Excess of the trees' payments over the price of each source, summed over rows: at most 0."""
    uses, price = sort_uses_by_source(problem), lam * problem.costs.price
    excess = np.empty(problem.n_sources)

    def work(s: int) -> None:
        excess[s] = overpaid(s, beta, price[s], problem.row_weight, uses)

    in_parts(work, range(problem.n_sources), problem.n_incidences + problem.n_sources * problem.n_examples)
    return excess
