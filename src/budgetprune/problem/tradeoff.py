"""Error and cost of nested prunings, for all lambdas in one pass over the incidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem.pair_kernels import add_paid_until
from budgetprune.problem.pairs import N_PARTS, sort_uses_by_source, suffix_sums
from budgetprune.utils.parts import in_parts

if TYPE_CHECKING:
    from budgetprune.problem.problem import PruningProblem
    from budgetprune.problem.tree_errors import TreeErrors


def sum_of_kept(
    amount: NDArray[np.float64], critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add up an amount over the splits ``critical_lambda > lam``, for each of the ascending `lams`."""
    return suffix_sums(_bins(amount, np.searchsorted(lams, critical_lambda), lams.size))


def errors_along(
    trees: TreeErrors, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Find error and number of splits of the prunings ``critical_lambda > lam``, for ascending `lams`."""
    until = np.searchsorted(lams, critical_lambda).astype(np.int32)
    # Add the gains of pruned splits to the error of the unpruned forest: terms of one sign. Subtracting the
    # gains of kept splits from the error of the roots would give a difference that rounding can make
    # negative.
    pruned = np.cumsum(_bins(trees.gain, until, lams.size))[: lams.size]
    n_splits = sum_of_kept(trees.unpruned.astype(np.float64), critical_lambda, lams)
    return trees.error_of(trees.unpruned) + pruned, n_splits.astype(np.int64)


def costs_along(
    problem: PruningProblem, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find the cost of the prunings ``critical_lambda > lam``, for ascending `lams`.

    The prunings are nested, so each split is kept for the first few lambdas, and a row pays for a source as
    long as one of its first uses is kept.
    """
    until = np.searchsorted(lams, critical_lambda).astype(np.int32)
    return suffix_sums(paid_until(problem, until, lams.size).sum(axis=0))


def _bins(amount: NDArray[np.float64], until: NDArray[np.integer], n_points: int) -> NDArray[np.float64]:
    """Add up an amount by the number of points for which its node stays: bins 0 to `n_points`."""
    return np.asarray(np.bincount(until, weights=amount, minlength=n_points + 1), dtype=np.float64)


def paid_until(problem: PruningProblem, until: NDArray[np.int32], n_points: int) -> NDArray[np.float64]:
    """Add up what is paid until each point, of shape (N_PARTS, n_points + 1)."""
    uses, price = sort_uses_by_source(problem), problem.costs.price
    paid = np.zeros((N_PARTS, n_points + 1))

    def work(part: int) -> None:
        for s in range(part, problem.n_sources, N_PARTS):
            add_paid_until(s, until, price[s], problem.row_weight, uses, paid[part])

    in_parts(work, range(N_PARTS), problem.n_incidences + problem.n_sources * problem.n_examples)
    return paid
