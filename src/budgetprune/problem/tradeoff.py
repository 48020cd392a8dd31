"""Error and cost of nested prunings, for all lambdas in one pass over the incidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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


def sum_of_kept(
    amount: NDArray[np.float64], critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add up an amount over the splits ``critical_lambda > lam``, for each of the ascending `lams`."""
    return suffix_sums(_bins(amount, np.searchsorted(lams, critical_lambda), lams.size))


def trade_off(
    problem: PruningProblem, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Find error, cost and number of splits of the prunings ``critical_lambda > lam``, for ascending `lams`.

    The prunings are nested, so each split is kept for the first few lambdas, and a row pays for a source as
    long as one of its first uses is kept.
    """
    until = np.searchsorted(lams, critical_lambda).astype(np.int32)
    # Add the gains of pruned splits to the error of the unpruned forest: terms of one sign. Subtracting the
    # gains of kept splits from the error of the roots would give a difference that rounding can make
    # negative.
    pruned = np.cumsum(_bins(problem.gain, until, lams.size))[: lams.size]
    error = problem.error_of(problem.unpruned) + pruned
    n_splits = sum_of_kept(problem.unpruned.astype(np.float64), critical_lambda, lams)
    paid = paid_until(until, lams.size, problem.costs.price, problem.row_weight, sort_uses_by_source(problem))
    return error, suffix_sums(paid.sum(axis=0)), n_splits.astype(np.int64)


def _bins(amount: NDArray[np.float64], until: NDArray[np.integer], n_points: int) -> NDArray[np.float64]:
    """Add up an amount by the number of points for which its node stays: bins 0 to `n_points`."""
    return np.asarray(np.bincount(until, weights=amount, minlength=n_points + 1), dtype=np.float64)


@njit(cache=True)
def source_paid_until(
    paid: NDArray[np.float64],
    until: NDArray[np.int32],
    price: NDArray[np.float64],
    uses: UsesBySource,
    s: int,
) -> None:
    """Add what each row pays for one source to the bin of the first point at which it no longer pays."""
    row_until = np.zeros(price.size, dtype=np.int32)
    for k in uses_of_source(uses, s):
        u = until[uses.use_node[k]]
        if u > 0:
            for i in rows_of_use(uses, k):
                row_until[i] = max(row_until[i], u)
    for i in range(price.size):
        paid[row_until[i]] += price[i]


@njit(cache=True, parallel=True)
def paid_until(
    until: NDArray[np.int32],
    n_points: int,
    price: NDArray[np.float64],
    row_weight: NDArray[np.float64],
    uses: UsesBySource,
) -> NDArray[np.float64]:
    """Add up what is paid until each point, of shape (N_PARTS, n_points + 1)."""
    paid = np.zeros((N_PARTS, n_points + 1))
    for part in prange(N_PARTS):
        for s in range(part, price.size, N_PARTS):
            source_paid_until(
                paid[part],
                until,
                price[s] * row_weight,
                uses,
                s,
            )
    return paid
