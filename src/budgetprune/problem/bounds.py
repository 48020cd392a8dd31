"""Lower bounds for all lambdas at once, from one flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import SolverError
from budgetprune.problem.certificate import paid_at_nodes
from budgetprune.problem.pair_kernels import add_overpaid, add_tree_values
from budgetprune.problem.pairs import N_PARTS, sort_uses_by_source, suffix_sums
from budgetprune.utils.parts import in_parts

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem


def universal_bounds(
    problem: PruningProblem,
    flow: NDArray[np.float64],
    level: NDArray[np.float64],
    lams: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Minimise the Lagrangian at ``beta = flow * min(1, lam / level)``, for each of the ascending `lams`.

    Payments at a node, and for a pair whose nodes share a level, grow with lambda up to that level and then
    stay constant. So the incidences are read once, and each lambda takes one pass over the nodes.
    """
    paid = paid_at_nodes(problem, flow)
    is_paid = paid > 0
    if not np.all(level[is_paid] > 0):
        h = np.flatnonzero(is_paid & ~(level > 0))[0]
        raise SolverError(f"level must be positive where there is flow, but it is {level[h]} at node {h}.")
    per_lam = np.divide(paid, level, out=np.zeros_like(paid), where=is_paid)
    trees = values_of_trees(problem, lams, paid, per_lam)
    slope, rest, mixed = overpaid_pairs(problem, lams, flow, level)
    if mixed.max(initial=-1) >= 0:
        s = np.flatnonzero(mixed >= 0)[0]
        raise SolverError(
            f"the flow of row {mixed[s]} to source {problem.costs.source_names[s]!r} comes from nodes of "
            "different levels; the bound for all lambdas needs one level for each pair of source and row."
        )
    bounds: NDArray[np.float64] = trees.sum(axis=0) + rest.sum(axis=0) - lams * suffix_sums(slope.sum(axis=0))
    return bounds


def values_of_trees(
    problem: PruningProblem,
    lams: NDArray[np.float64],
    paid: NDArray[np.float64],
    per_lam: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up V(root) over trees for each lambda, where node h pays ``min(paid, lam * per_lam)``.

    Of shape (N_PARTS, n_lams).
    """
    forest = problem.forest
    values = np.zeros((N_PARTS, lams.size))

    def work(part: int) -> None:
        for t in range(part, forest.n_trees, N_PARTS):
            add_tree_values(
                t,
                lams,
                forest.tree_start,
                forest.right,
                problem.error,
                problem.computation,
                paid,
                per_lam,
                values[part],
            )

    in_parts(work, range(N_PARTS), lams.size * forest.n_nodes)
    return values


def overpaid_pairs(
    problem: PruningProblem,
    lams: NDArray[np.float64],
    flow: NDArray[np.float64],
    level: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Sum the overpayments: slopes in the bins of the levels that end them, the rest by lambda.

    Return also a row for each source whose payers differ in level, or -1.
    """
    uses, price = sort_uses_by_source(problem), problem.costs.price
    level_point = np.searchsorted(lams, level, side="right")
    slope, rest = np.zeros((N_PARTS, lams.size + 1)), np.zeros((N_PARTS, lams.size))
    mixed = np.empty(problem.n_sources, dtype=np.int64)

    def work(part: int) -> None:
        for s in range(part, problem.n_sources, N_PARTS):
            mixed[s] = add_overpaid(
                s,
                lams,
                flow,
                level,
                level_point,
                price[s],
                problem.row_weight,
                uses,
                slope[part],
                rest[part],
            )

    in_parts(work, range(N_PARTS), problem.n_incidences + problem.n_sources * problem.n_examples)
    return slope, rest, mixed
