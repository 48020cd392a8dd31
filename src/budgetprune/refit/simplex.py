"""Least squares for probabilities: the values of every leaf remain class probabilities.

Leaves of one tree share no rows, so given the other trees each leaf has a separate problem. Its Hessian is a
multiple of the identity, so its solution over the simplex is the projection of the unconstrained solution.
Solving tree after tree (block coordinate descent) converges to the joint optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.refit.leaves import Array, Leaves
from budgetprune.refit.minimum import Minimum, reference_norm
from budgetprune.utils.jit import njit, prange

MAX_SWEEPS = 500
# Leaves that a thread solves at a time.
CHUNK = 64


def minimise_on_simplex(
    leaves: Leaves,
    target: NDArray[Any],
    weight: Array,
    ridge: float,
    *,
    start: Array,
    tolerance: float,
    max_steps: int = MAX_SWEEPS,
) -> Minimum:
    """Find the shifts x with the least ``sum_i w_i |y_i - (score_i + (Z x)_i)|^2 / 2 + ridge |x|^2 / 2``.

    `y_i` is the indicator of the row's class, and each leaf's old value plus its shift is a probability.
    """
    divisor, old = leaves.forest.divisor, leaves.value
    order, row_start = rows_by_leaf(leaves.stop, leaves.start)
    problem = LeafProblem(
        order, row_start, leaves.start, old, leaves.weights(weight), weight, float(ridge), float(divisor)
    )

    def run(kernel: Callable[..., Array], value: Array, residual: Array) -> float:
        """Distance of each leaf from its own optimum, in units of the gradient."""
        return float(np.sqrt(kernel(problem, value, residual).sum()))

    value, residual = old.copy(), -leaves.score
    residual[np.arange(leaves.n_rows), target] += 1.0
    norm = run(measure_trees, value, residual)
    reference = reference_norm(leaves, norm, weight[:, np.newaxis] * residual)
    if start.any():
        value = np.maximum(old + divisor * start, 0.0)  # rounding may make it negative
        residual -= leaves.scores(start)
        norm = run(measure_trees, value, residual)
    n_steps = 0
    while norm > tolerance * reference and n_steps < max_steps:
        swept = run(sweep_trees, value, residual)
        n_steps += 1
        if swept <= tolerance * reference or n_steps == max_steps:
            norm = run(measure_trees, value, residual)
    return Minimum(value, norm / reference, n_steps)


class LeafProblem(NamedTuple):
    """Least squares of all leaves.

    Attributes
    ----------
    order, row_start : rows of each leaf, see `rows_by_leaf`
    leaf_start : offsets of each tree's leaves
    old : values of the leaves before the refit, of shape (n_leaves, n_classes)
    counted : weight of the rows at each leaf
    weight : of each row
    ridge, divisor : float
    """

    order: NDArray[np.int32]
    row_start: NDArray[np.int32]
    leaf_start: NDArray[np.intp]
    old: Array
    counted: Array
    weight: Array
    ridge: float
    divisor: float


@njit(cache=True, parallel=True)
def rows_by_leaf(
    stop: NDArray[np.int32], leaf_start: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sort the rows by the leaf where they stop, in each tree.

    The rows at leaf `l` of tree `t` are ``order[t, row_start[l + t]:row_start[l + t + 1]]``: each tree has
    one offset more than it has leaves.
    """
    n_trees, n_rows = stop.shape
    order = np.empty(stop.shape, dtype=np.int32)
    row_start = np.zeros(leaf_start[-1] + n_trees, dtype=np.int32)
    for t in prange(n_trees):
        first = leaf_start[t]
        offset = row_start[first + t : leaf_start[t + 1] + t + 1]
        for i in range(n_rows):
            offset[stop[t, i] - first + 1] += 1
        for leaf in range(1, offset.size):
            offset[leaf] += offset[leaf - 1]
        place = offset.copy()
        for i in range(n_rows):
            leaf = stop[t, i] - first
            order[t, place[leaf]] = i
            place[leaf] += 1
    return order, row_start


@njit(cache=True)
def project(point: Array) -> None:
    """Move a point to the nearest one whose entries are at least 0 and add up to 1.

    The same amount is subtracted from all entries that stay positive. Entries that would become negative are
    left out until there are none (Michelot 1986).
    """
    point -= point.max()  # the projection is the same, and the largest entry stays positive in any rounding
    n_before, n_left = point.size + 1, point.size
    excess = (point.sum() - 1.0) / n_left
    while n_left < n_before:
        n_before, n_left, total = n_left, 0, 0.0
        for entry in point:
            if entry > excess:
                n_left += 1
                total += entry
        excess = (total - 1.0) / n_left
    for k in range(point.size):
        point[k] = max(0.0, point[k] - excess)


@njit(cache=True, inline="always")
def rows_of_leaf(problem: LeafProblem, t: int, leaf: int) -> NDArray[np.int32]:
    """Return the rows that stop at a leaf of tree `t`."""
    return problem.order[t, problem.row_start[leaf + t] : problem.row_start[leaf + t + 1]]


@njit(cache=True, inline="always")
def solve_leaf(
    new: Array, problem: LeafProblem, leaf: int, rows: NDArray[np.int32], value: Array, residual: Array
) -> float:
    """Solve one leaf's problem, given all other leaves; return the squared gradient at its old value.

    `value` has the current values of this leaf, and `new` is filled with the new ones.
    """
    old, weight, ridge, divisor = problem.old[leaf], problem.weight, problem.ridge, problem.divisor
    new[:] = 0.0
    for i in rows:
        for k in range(new.size):
            new[k] += weight[i] * residual[i, k]
    stiffness = problem.counted[leaf] + ridge
    if stiffness <= 0.0:  # no row, no ridge: keep the old value
        new[:] = old
        return 0.0
    for k in range(new.size):
        pull = new[k] + ridge * (old[k] - value[k]) / divisor
        new[k] = value[k] + divisor * pull / stiffness
    project(new)
    square = 0.0
    for k in range(new.size):
        square += ((new[k] - value[k]) / divisor * stiffness) ** 2
    return square


@njit(cache=True, parallel=True)
def sweep_trees(problem: LeafProblem, value: Array, residual: Array) -> Array:
    """Set every leaf to its optimum, tree after tree; return each leaf's squared gradient before that."""
    leaf_start, divisor = problem.leaf_start, problem.divisor
    square = np.zeros(len(value))
    for t in range(leaf_start.size - 1):
        for chunk in prange((leaf_start[t + 1] - leaf_start[t] + CHUNK - 1) // CHUNK):
            new = np.empty(value.shape[1])
            first = leaf_start[t] + chunk * CHUNK
            for leaf in range(first, min(first + CHUNK, leaf_start[t + 1])):
                rows = rows_of_leaf(problem, t, leaf)
                square[leaf] = solve_leaf(new, problem, leaf, rows, value[leaf], residual)
                for i in rows:
                    for k in range(new.size):
                        residual[i, k] -= (new[k] - value[leaf, k]) / divisor
                value[leaf] = new
    return square


@njit(cache=True, parallel=True)
def measure_trees(problem: LeafProblem, value: Array, residual: Array) -> Array:
    """Compute each leaf's squared gradient, as `sweep_trees` does, without changing a value."""
    leaf_start = problem.leaf_start
    square = np.zeros(len(value))
    for t in prange(leaf_start.size - 1):
        new = np.empty(value.shape[1])
        for leaf in range(leaf_start[t], leaf_start[t + 1]):
            rows = rows_of_leaf(problem, t, leaf)
            square[leaf] = solve_leaf(new, problem, leaf, rows, value[leaf], residual)
    return square
