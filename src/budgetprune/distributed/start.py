"""`SampleStart`: the problem on a sample of its rows, solved first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.path import PruningPath
from budgetprune.problem import PruningProblem, RoutedRows, TreeErrors
from budgetprune.solvers import Iterate, Search, rows_of

# The gap on the sample is this share of the one that is asked for on all rows: both errors add up.
SHARE_OF_GAP = 0.25
MOST_ITERATIONS = 100
# Points of the path are computed for each budget, and for somewhat smaller ones: a point of the sample may
# cost more on all rows.
SMALLER_BUDGETS = (1.0, 0.99, 0.97, 0.94)


def choose_sample(n_rows: int, size: int, seed: int) -> NDArray[np.int64]:
    """Draw the numbers of some rows without replacement, ascending."""
    if size < 0:
        raise InvalidInputError(f"sample must be a number of rows of at least 0, not {size}.")
    if size >= n_rows:
        return np.arange(n_rows)
    chosen = np.random.default_rng(seed).choice(n_rows, size, replace=False, shuffle=False)
    return np.sort(chosen)


class SampleStart:
    """Pruning problem with the errors of all rows, and the costs of a sample.

    Parameters
    ----------
    whole : TreeErrors
    rows : RoutedRows
    weight : float64 array
        Weights of these rows.
    relevant : int64 array
        The relevant uses of the problem.

    Attributes
    ----------
    problem : PruningProblem
    """

    def __init__(
        self, whole: TreeErrors, rows: RoutedRows, weight: NDArray[np.float64], relevant: NDArray[np.int64]
    ) -> None:
        self.problem = PruningProblem.of_sample(whole, rows, weight)
        self._relevant = relevant
        self._rows = rows_of(self.problem, relevant)

    def iterate(self, lam: float, gap: float) -> Iterate:
        """Find potentials for one lambda."""
        search = Search(self.problem, self._relevant, self._rows, [lam])
        target, at = search.targets[0], search.start()
        for _ in range(MOST_ITERATIONS):
            search.iterate(at, target)
            if target.gap <= SHARE_OF_GAP * gap:
                break
        if target.potential is not None:
            at.potential = target.potential
        return at

    def path(self, budgets: ArrayLike) -> PruningPath:
        """Compute the exact path around some budgets."""
        wanted = np.outer(np.array(SMALLER_BUDGETS), np.asarray(budgets, dtype=np.float64)).ravel()
        return self.problem.path(budgets=np.unique(wanted))
