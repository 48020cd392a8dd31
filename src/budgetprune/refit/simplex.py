"""Least squares for probabilities: the values of every leaf remain class probabilities.

Leaves of one tree share no rows, so given the other trees each leaf has a separate problem. Its Hessian is a
multiple of the identity, so its solution over the simplex is the projection of the unconstrained solution.
Solving tree after tree (block coordinate descent) converges to the joint optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.refit import kernels
from budgetprune.refit.kernels import LeafProblem
from budgetprune.refit.leaves import Array, Leaves
from budgetprune.refit.minimum import Minimum, reference_norm
from budgetprune.utils.parts import in_ranges

MAX_SWEEPS = 500


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

    def run(visit: Callable[[LeafProblem, Array, Array], Array]) -> float:
        """Distance of each leaf from its own optimum, in units of the gradient."""
        return float(np.sqrt(visit(problem, value, residual).sum()))

    value, residual = old.copy(), -leaves.score
    residual[np.arange(leaves.n_rows), target] += 1.0
    norm = run(measure_trees)
    reference = reference_norm(leaves, norm, weight[:, np.newaxis] * residual)
    if start.any():
        value = np.maximum(old + divisor * start, 0.0)  # rounding may make it negative
        residual -= leaves.scores(start)
        norm = run(measure_trees)
    n_steps = 0
    while norm > tolerance * reference and n_steps < max_steps:
        swept = run(sweep_trees)
        n_steps += 1
        if swept <= tolerance * reference or n_steps == max_steps:
            norm = run(measure_trees)
    return Minimum(value, norm / reference, n_steps)


def rows_by_leaf(
    stop: NDArray[np.int32], leaf_start: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sort the rows by the leaf where they stop, in each tree.

    The rows at leaf `l` of tree `t` are ``order[t, row_start[l + t]:row_start[l + t + 1]]``: each tree has
    one offset more than it has leaves.
    """
    n_trees = len(stop)
    order = np.empty(stop.shape, dtype=np.int32)
    row_start = np.zeros(leaf_start[-1] + n_trees, dtype=np.int32)
    in_ranges(partial(kernels.sort_rows, stop, leaf_start, order, row_start), n_trees, stop.size)
    return order, row_start


def sweep_trees(problem: LeafProblem, value: Array, residual: Array) -> Array:
    """Set every leaf to its optimum, tree after tree; return each leaf's squared gradient before that."""
    square = np.zeros(len(value))
    for t in range(problem.n_trees):
        solve = partial(kernels.solve_leaves, problem, t, value, residual, square)
        in_ranges(solve, problem.n_leaves(t), residual.size)
    return square


def measure_trees(problem: LeafProblem, value: Array, residual: Array) -> Array:
    """Compute each leaf's squared gradient, as `sweep_trees` does, without changing a value."""
    square = np.zeros(len(value))
    measure = partial(kernels.measure_trees, problem, value, residual, square)
    in_ranges(measure, problem.n_trees, problem.n_trees * residual.size)
    return square
