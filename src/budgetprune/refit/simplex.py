"""Least squares in probability space: the values of every leaf stay probabilities of the classes.

Leaves of one tree share no rows, so given the other trees each leaf has a problem of its own, whose Hessian
is a multiple of the identity: its solution over the simplex is the projection of its solution without. Going
from tree to tree (block coordinate descent, with one minimiser per block) converges to the joint optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.refit.leaves import Array, Leaves
from budgetprune.refit.minimum import Minimum, yardstick
from budgetprune.utils.jit import njit, prange

MAX_SWEEPS = 500
# Leaves that a thread solves in one go.
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
    divisor, old, counted = leaves.forest.divisor, leaves.value, leaves.weights(weight)
    rows = *rows_by_leaf(leaves.stop, leaves.start), leaves.start

    def run(kernel: Callable[..., Array], value: Array, residual: Array) -> float:
        """Distance of each leaf from its own best answer, in units of the gradient."""
        squares = kernel(*rows, value, old, counted, weight, residual, ridge, divisor)
        return float(np.sqrt(squares.sum()))

    value, residual = old.copy(), -leaves.score
    residual[np.arange(leaves.n_rows), target] += 1.0
    norm = run(measure_trees, value, residual)
    reference = yardstick(leaves, norm, weight[:, np.newaxis] * residual)
    if start.any():
        value = np.maximum(old + divisor * start, 0.0)  # differences lose the last bits
        residual -= leaves.scores(start)
        norm = run(measure_trees, value, residual)
    n_steps = 0
    while norm > tolerance * reference and n_steps < max_steps:
        swept = run(sweep_trees, value, residual)
        n_steps += 1
        if swept <= tolerance * reference or n_steps == max_steps:
            norm = run(measure_trees, value, residual)
    return Minimum(value, norm / reference, n_steps)


@njit(cache=True, parallel=True)
def rows_by_leaf(
    stop: NDArray[np.int32], leaf_start: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sort the rows by the leaf where they stop, in each tree.

    Those at leaf `l` of tree `t` are ``order[t, row_start[l + t]:row_start[l + t + 1]]``: each tree has one
    offset more than it has leaves.
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

    All entries that stay above 0 lose the same. Start with all of them, and leave out what falls to 0 until
    nothing does (Michelot 1986).
    """
    point -= point.max()  # the nearest point is the same, and the greatest entry stays above 0 for certain
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


@njit(cache=True)
def best_answer(
    answer: Array,
    rows: NDArray[np.int32],
    value: Array,
    old: Array,
    counted: float,
    weight: Array,
    residual: Array,
    ridge: float,
    divisor: float,
) -> float:
    """Solve one leaf's problem, given all other leaves; return the square of the gradient that led there."""
    answer[:] = 0.0
    for i in rows:
        for k in range(answer.size):
            answer[k] += weight[i] * residual[i, k]
    stiffness = counted + ridge
    if stiffness <= 0.0:  # no row, no ridge: keep the old value
        answer[:] = old
        return 0.0
    for k in range(answer.size):
        pull = answer[k] + ridge * (old[k] - value[k]) / divisor
        answer[k] = value[k] + divisor * pull / stiffness
    project(answer)
    square = 0.0
    for k in range(answer.size):
        square += ((answer[k] - value[k]) / divisor * stiffness) ** 2
    return square


@njit(cache=True, parallel=True)
def sweep_trees(
    order: NDArray[np.int32],
    row_start: NDArray[np.int32],
    leaf_start: NDArray[np.intp],
    value: Array,
    old: Array,
    counted: Array,
    weight: Array,
    residual: Array,
    ridge: float,
    divisor: float,
) -> Array:
    """Give every leaf its best answer, tree after tree; return each leaf's squared gradient before that."""
    square = np.zeros(len(value))
    for t in range(leaf_start.size - 1):
        for chunk in prange((leaf_start[t + 1] - leaf_start[t] + CHUNK - 1) // CHUNK):
            answer = np.empty(value.shape[1])
            first = leaf_start[t] + chunk * CHUNK
            for leaf in range(first, min(first + CHUNK, leaf_start[t + 1])):
                rows = order[t, row_start[leaf + t] : row_start[leaf + t + 1]]
                square[leaf] = best_answer(
                    answer,
                    rows,
                    value[leaf],
                    old[leaf],
                    counted[leaf],
                    weight,
                    residual,
                    ridge,
                    divisor,
                )
                for i in rows:
                    for k in range(answer.size):
                        residual[i, k] -= (answer[k] - value[leaf, k]) / divisor
                value[leaf] = answer
    return square


@njit(cache=True, parallel=True)
def measure_trees(
    order: NDArray[np.int32],
    row_start: NDArray[np.int32],
    leaf_start: NDArray[np.intp],
    value: Array,
    old: Array,
    counted: Array,
    weight: Array,
    residual: Array,
    ridge: float,
    divisor: float,
) -> Array:
    """Each leaf's squared gradient, as `sweep_trees` would find it; nothing is changed."""
    square = np.zeros(len(value))
    for t in prange(leaf_start.size - 1):
        answer = np.empty(value.shape[1])
        for leaf in range(leaf_start[t], leaf_start[t + 1]):
            square[leaf] = best_answer(
                answer,
                order[t, row_start[leaf + t] : row_start[leaf + t + 1]],
                value[leaf],
                old[leaf],
                counted[leaf],
                weight,
                residual,
                ridge,
                divisor,
            )
    return square
