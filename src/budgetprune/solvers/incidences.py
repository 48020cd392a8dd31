"""Rows and uses of incidences, for solvers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem import PruningProblem


def first_rows(problem: PruningProblem) -> NDArray[np.int64]:
    """Offset in ``problem.order.ravel()`` of the rows of each use."""
    tree, node = problem.forest.tree_of_node[problem.use_node], problem.use_node
    return tree.astype(np.int64) * problem.n_examples + problem.row_start[node]


def incidence_uses(problem: PruningProblem) -> NDArray[np.int64]:
    """Use that each incidence belongs to."""
    return np.repeat(np.arange(problem.n_uses), np.diff(problem.use_start))


def incidence_rows(problem: PruningProblem) -> NDArray[np.int32]:
    """Row that each incidence belongs to."""
    shift = np.repeat(first_rows(problem) - problem.use_start[:-1], np.diff(problem.use_start))
    rows: NDArray[np.int32] = problem.order.ravel()[np.arange(problem.n_incidences) + shift]
    return rows
