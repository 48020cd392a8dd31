"""Points of a path that were found for one lambda each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.path import PruningPath
from budgetprune.problem import TreeErrors
from budgetprune.solvers import Target


def nest(targets: Sequence[Target]) -> NDArray[np.float64]:
    """Make prunings for increasing lambdas nested; return the critical lambdas.

    Let pruning A belong to a smaller lambda than B. The union of both is at least as good for the smaller
    lambda as A is, or their intersection is better for the larger one than B by more: costs are submodular.
    Exchanging neighbours in this way until all are nested sorts the prunings for each split. So a split that
    is in `n` of the prunings is in the first `n` afterwards, and the sum of the objectives does not increase.
    """
    lams = np.array([target.lam for target in targets])
    n_kept = np.sum([target.keep for target in targets], axis=0)
    ends = np.concatenate([[0.0], lams[1:], [np.nextafter(lams[-1], np.inf)]])
    critical: NDArray[np.float64] = ends[n_kept]
    return critical


def path_of_points(problem: TreeErrors, targets: Sequence[Target]) -> PruningPath:
    """Combine prunings and bounds of increasing lambdas to a path; costs are counted on all rows again."""
    lams = np.array([target.lam for target in targets])
    bound = np.array([target.bound for target in targets])
    return PruningPath.of(problem, nest(targets), complete=False, lams=lams, bound=bound)
