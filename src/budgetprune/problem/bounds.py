"""Lower bounds for all lambdas at once, from one flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import SolverError
from budgetprune.problem.certificate import paid_at_nodes, tree_value
from budgetprune.problem.pairs import (
    N_PARTS,
    UsesBySource,
    rows_of_use,
    sort_uses_by_source,
    suffix_sums,
    uses_of_source,
)
from budgetprune.utils.jit import njit, prange

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
    forest = problem.forest
    paid = paid_at_nodes(problem, flow)
    is_paid = paid > 0
    if not np.all(level[is_paid] > 0):
        h = np.flatnonzero(is_paid & ~(level > 0))[0]
        raise SolverError(f"level must be positive where there is flow, but it is {level[h]} at node {h}.")
    per_lam = np.divide(paid, level, out=np.zeros_like(paid), where=is_paid)
    trees = values_of_trees(
        lams, forest.tree_start, forest.right, problem.error, problem.computation, paid, per_lam
    )
    slope, rest, mixed = overpaid_pairs(
        lams,
        flow,
        level,
        np.searchsorted(lams, level, side="right"),
        problem.costs.price,
        problem.row_weight,
        sort_uses_by_source(problem),
    )
    if mixed.max(initial=-1) >= 0:
        s = np.flatnonzero(mixed >= 0)[0]
        raise SolverError(
            f"the flow of row {mixed[s]} to source {problem.costs.source_names[s]!r} comes from nodes of "
            "different levels; the bound for all lambdas needs one level for each pair of source and row."
        )
    bounds: NDArray[np.float64] = trees.sum(axis=0) + rest.sum(axis=0) - lams * suffix_sums(slope.sum(axis=0))
    return bounds


@njit(cache=True, parallel=True)
def values_of_trees(
    lams: NDArray[np.float64],
    tree_start: NDArray[np.int64],
    right: NDArray[np.int32],
    error: NDArray[np.float64],
    computation: NDArray[np.float64],
    paid: NDArray[np.float64],
    per_lam: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up V(root) over trees for each lambda, where node h pays ``min(paid, lam * per_lam)``.

    Of shape (N_PARTS, n_lams).
    """
    values = np.zeros((N_PARTS, lams.size))
    for part in prange(N_PARTS):
        for t in range(part, tree_start.size - 1, N_PARTS):
            root, end = tree_start[t], tree_start[t + 1]
            charge = np.empty(end - root)
            for p in range(lams.size):
                for h in range(root, end):
                    charge[h - root] = lams[p] * computation[h] + min(paid[h], lams[p] * per_lam[h])
                values[part, p] += tree_value(root, end, right, error, charge)
    return values


@njit(cache=True)
def overpaid_pairs_of_source(
    slope: NDArray[np.float64],
    rest: NDArray[np.float64],
    lams: NDArray[np.float64],
    flow: NDArray[np.float64],
    level: NDArray[np.float64],
    level_point: NDArray[np.int64],
    price: NDArray[np.float64],
    uses: UsesBySource,
    s: int,
) -> int:
    """Add the overpayment for one source; return a row whose payers differ in level, or -1.

    A pair of price c whose payers give f at level d is overpaid where lam * c < f * min(1, lam / d)::

        overpaid |      /\\
            |    /    \\          slope f / d - c up to d, then -c;
            |  /        \\        nothing anywhere if f / d <= c
            |/____________\\____ lam
                   d     f / c
    """
    paid = np.zeros(price.size)
    payer = np.full(price.size, -1, dtype=np.int32)  # a node that pays for the row; it has the pair's level
    for k in uses_of_source(uses, s):
        h = uses.use_node[k]
        rows = rows_of_use(uses, k)
        for q in range(rows.size):
            amount = flow[uses.use_start[k] + q]
            if amount > 0:
                i = rows[q]
                if payer[i] < 0:
                    payer[i] = h
                elif level[payer[i]] != level[h]:
                    return int(i)
                paid[i] += amount
    for i in range(price.size):
        if payer[i] < 0:
            continue
        excess = paid[i] / level[payer[i]] - price[i]
        if excess > 0:
            past = level_point[payer[i]]  # lams[:past] <= level
            slope[past] += excess
            for p in range(past, lams.size):
                left = lams[p] * price[i] - paid[i]
                if left >= 0:
                    break
                rest[p] += left
    return -1


@njit(cache=True, parallel=True)
def overpaid_pairs(
    lams: NDArray[np.float64],
    flow: NDArray[np.float64],
    level: NDArray[np.float64],
    level_point: NDArray[np.int64],
    price: NDArray[np.float64],
    row_weight: NDArray[np.float64],
    uses: UsesBySource,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Sum the overpayments: slopes in the bins of the levels that end them, the rest by lambda."""
    slope = np.zeros((N_PARTS, lams.size + 1))
    rest = np.zeros((N_PARTS, lams.size))
    mixed = np.empty(price.size, dtype=np.int64)
    for part in prange(N_PARTS):
        for s in range(part, price.size, N_PARTS):
            mixed[s] = overpaid_pairs_of_source(
                slope[part],
                rest[part],
                lams,
                flow,
                level,
                level_point,
                price[s] * row_weight,
                uses,
                s,
            )
    return slope, rest, mixed
