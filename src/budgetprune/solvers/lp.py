"""`lp`: the linear relaxation of the paper's program (IP), solved by HiGHS. For reference and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from budgetprune.errors import InvalidInputError, SolverError
from budgetprune.problem import Pruning, PruningProblem
from budgetprune.solvers.incidences import incidence_rows, incidence_uses

# Beyond this, a general-purpose solver takes hours.
MAX_INCIDENCES = 2_000_000
# Tolerance for rounding: largest distance of a variable from 0 or 1.
INTEGRALITY = 1e-6
# Smallest feasibility tolerance that HiGHS accepts. The gain of a split can be far below HiGHS's default.
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Program:
    """Linear relaxation of (IP).

    Minimise ``cost @ x`` such that ``equality @ x = 1``, ``coupling @ x <= 0`` and ``x >= 0``. At a minimum,
    no variable exceeds 1.

    Columns are z, one per node; then w^(t), one per incidence; then w, one per (source, row) pair that
    occurs in some tree, sorted by source, then by row.

    Attributes
    ----------
    cost : float64 array of shape (n_columns,)
    equality : sparse matrix
        "Feasible prunings" and "feature usage per tree", in the order of Lemma 3.1; see `network_order`.
    coupling : sparse matrix of shape (n_incidences, n_columns)
        "Global feature usage"; its multipliers are beta.
    """

    cost: NDArray[np.float64]
    equality: sparse.csr_array
    coupling: sparse.csr_array

    @classmethod
    def of(cls, problem: PruningProblem, lam: float) -> Program:
        """Formulate a problem as a linear program."""
        above = predecessors(problem)
        pair_source, pair_row, pair = number_pairs(problem)
        n_nodes, n_incidences, n_pairs = problem.forest.n_nodes, problem.n_incidences, pair_source.size
        equality = sparse.vstack([feasible_prunings(problem, above), feature_usage(problem, above)])
        coupling = sparse.hstack([sparse.csr_array((n_incidences, n_nodes)), global_usage(pair, n_pairs)])
        # A split h that stays (1 minus the sum of z over p(h)) costs computation, so a leaf saves that of its
        # whole subtree. This is the paper's |S_h| d_h, less a constant.
        node_cost = problem.error - lam * (problem.computation @ above)
        pair_cost = lam * problem.costs.price[pair_source] * problem.row_weight[pair_row]
        return cls(
            cost=np.concatenate([node_cost, np.zeros(n_incidences), pair_cost]),
            equality=_widen(sparse.csr_array(equality)[network_order(problem, above)], n_pairs),
            coupling=sparse.csr_array(coupling),
        )


def solve(problem: PruningProblem, lam: float, *, time_limit: float = np.inf) -> Pruning:
    """Find the best pruning by linear programming, with SciPy's HiGHS.

    The relaxation of (IP) has integral vertices (Theorem 3.2), so the simplex method ends at a pruning. Slow:
    a reference for small problems.

    Parameters
    ----------
    problem : PruningProblem
    lam : float
    time_limit : float
        Time limit of HiGHS in seconds; beyond it, a `SolverError` is raised.

    Returns
    -------
    pruning : Pruning
        Its `dual` certifies that it is optimal.
    """
    problem.objective(np.zeros_like(problem.unpruned), lam)  # raises if lam is invalid
    if not time_limit > 0:
        raise InvalidInputError(f"time_limit must be a positive number of seconds, not {time_limit!r}.")
    if problem.n_incidences > MAX_INCIDENCES:
        raise SolverError(
            f"this problem has {problem.n_incidences:,} incidences; solver='lp' is a reference for up to "
            f"{MAX_INCIDENCES:,}. Use solver='parametric' (exact) or 'primal-dual' (the paper's Algorithm 1)."
        )
    program = Program.of(problem, lam)
    arguments: dict[str, Any] = {  # the stubs of linprog know no sparse matrices
        "A_ub": program.coupling,
        "b_ub": np.zeros(program.coupling.shape[0]),
        "A_eq": program.equality,
        "b_eq": np.ones(program.equality.shape[0]),
        "method": "highs-ds",  # the simplex method, because others may stop between vertices
        "options": {"dual_feasibility_tolerance": TOLERANCE, "time_limit": time_limit},
    }
    result: Any = linprog(program.cost, **arguments)
    if not result.success:
        raise SolverError(f"HiGHS could not solve the linear program: {result.message}")
    if np.abs(result.x - np.rint(result.x)).max() > INTEGRALITY:
        raise SolverError("HiGHS stopped at a solution that is not integral; use solver='parametric'.")
    pruned = predecessors(problem) @ result.x[: problem.forest.n_nodes]
    beta = np.maximum(-result.ineqlin.marginals, 0.0)
    return problem.pruning(problem.unpruned & (pruned < 0.5), lam, beta)


def predecessors(problem: PruningProblem) -> sparse.csr_array:
    """Mark p(h), the nodes from the root to h, in row h of a matrix."""
    parent = problem.forest.parent
    node = np.arange(parent.size)
    above = node.astype(np.int32)
    pairs = []
    while node.size:  # one step up from all nodes at once, as often as the deepest tree has levels
        pairs.append((node, above))
        above = parent[above]
        node, above = node[above >= 0], above[above >= 0]
    rows, columns = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(parent.size, parent.size))


def feasible_prunings(problem: PruningProblem, above: sparse.csr_array) -> sparse.csr_array:
    """The sum of z_u over p(h) is 1, for each leaf h: one node on each path is a leaf of the pruned tree."""
    return _widen(above[np.flatnonzero(~problem.forest.is_split)], problem.n_incidences)


def feature_usage(problem: PruningProblem, above: sparse.csr_array) -> sparse.csr_array:
    """w^(t)_ki plus the sum of z_h over p(u_tki) is 1: the row acquires the source unless it stops before."""
    node = problem.use_node[incidence_uses(problem)]
    return sparse.csr_array(sparse.hstack([above[node], sparse.eye_array(node.size)]))


def global_usage(pair: NDArray[np.int64], n_pairs: int) -> sparse.csr_array:
    """w^(t)_ki - w_ki is at most 0: a source that one tree acquires is acquired."""
    incidence = np.arange(pair.size)
    w = sparse.csr_array((np.ones(pair.size), (incidence, pair)), shape=(pair.size, n_pairs))
    return sparse.csr_array(sparse.hstack([sparse.eye_array(pair.size), -w]))


def number_pairs(
    problem: PruningProblem,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the (source, row) pairs: return source and row of each pair, and the pair of each incidence."""
    source = problem.use_source[incidence_uses(problem)].astype(np.int64)
    key, pair = np.unique(source * problem.n_examples + incidence_rows(problem), return_inverse=True)
    return key // problem.n_examples, key % problem.n_examples, pair


def network_order(problem: PruningProblem, above: sparse.csr_array) -> NDArray[np.int64]:
    """Order the rows "feasible prunings" and "feature usage per tree" as Lemma 3.1 needs them.

    A w^(t)_ki is like one more leaf, the last child of u_tki. With all leaves in pre-order, the ones of each
    column are consecutive, and the differences of neighbouring rows are a network matrix.
    """
    forest = problem.forest
    subtree_end = np.arange(forest.n_nodes) + above.sum(axis=0)
    leaf = np.flatnonzero(~forest.is_split)
    node = np.concatenate([leaf, problem.use_node[incidence_uses(problem)]])
    # Sort by the end of the subtree; on ties, the deepest node is first.
    return np.lexsort((-forest.depth[node], subtree_end[node]))


def _widen(matrix: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """Append columns of zeros."""
    return sparse.csr_array(sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], n_columns))]))
