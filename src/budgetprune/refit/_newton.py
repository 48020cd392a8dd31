"""Newton's method for the values of all leaves at once, each step by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from budgetprune._losses import Array, Loss, derivatives, row_loss
from budgetprune.refit._leaves import Leaves

# A step need not be exact while the goal is far: its residual is this share of the gradient.
STEP_ACCURACY = 0.1
# A step is shortened until the objective falls by this share of what its slope promises (Armijo).
SUFFICIENT = 1e-4
MAX_HALVINGS = 30


class Minimum(NamedTuple):
    """Shifts of the leaves' contributions, and how close to the minimum they are."""

    shift: Array
    gradient_norm: float  # relative to that of the old values
    n_steps: int


def minimise(
    leaves: Leaves,
    loss: Loss,
    target: NDArray[Any],
    weight: Array,
    ridge: float,
    *,
    start: Array,
    tolerance: float,
    max_steps: int,
) -> Minimum:
    """Find the shifts x with the least ``sum_i w_i loss(score_i + (Z x)_i) + ridge |x|^2 / 2``.

    The objective is convex, and strictly so for a positive ridge; each step lowers it, so the method
    converges from any start.
    """
    w = weight[:, np.newaxis]

    def objective(x: Array, scores: Array) -> float:
        return float(weight @ row_loss(loss, scores, target) + 0.5 * ridge * np.vdot(x, x))

    def gradient(x: Array, scores: Array) -> Array:
        return leaves.sums(w * derivatives(loss, scores, target).gradient) + ridge * x

    x = start
    first = float(np.linalg.norm(gradient(np.zeros_like(x), leaves.score)))
    if first == 0:
        return Minimum(np.zeros_like(x), 0.0, 0)
    scores = leaves.score + leaves.scores(x)
    value = objective(x, scores)
    for n_steps in range(max_steps + 1):
        g = gradient(x, scores)
        norm = float(np.linalg.norm(g)) / first
        if norm <= tolerance or n_steps == max_steps:
            return Minimum(x, norm, n_steps)
        curve = _curvature(loss, scores, target)
        scale = leaves.sums(w * derivatives(loss, scores, target).curvature) + ridge
        step = _conjugate_gradients(
            lambda d, curve=curve: leaves.sums(w * curve(leaves.scores(d))) + ridge * d,  # type: ignore[misc]
            -g,
            scale,
            STEP_ACCURACY,
        )
        slope, along, length = float(np.vdot(g, step)), leaves.scores(step), 1.0
        for _ in range(MAX_HALVINGS):
            new = objective(x + length * step, scores + length * along)
            if new <= value + SUFFICIENT * length * slope:
                break
            length /= 2
        else:
            # Rounding is all that is left between here and the minimum.
            return Minimum(x, norm, n_steps)
        x, scores, value = x + length * step, scores + length * along, new
    raise AssertionError("the last step returns")


def _curvature(loss: Loss, scores: Array, target: NDArray[Any]) -> Callable[[Array], Array]:
    """Multiply by the second derivatives of each row's loss; those of a softmax couple its outputs."""
    if loss == "softmax":
        p = softmax(scores, axis=1)
        return lambda z: p * (z - np.einsum("ik,ik->i", p, z)[:, np.newaxis])
    curvature = derivatives(loss, scores, target).curvature
    return lambda z: curvature * z


def _conjugate_gradients(
    multiply: Callable[[Array], Array], right: Array, scale: Array, accuracy: float, max_rounds: int = 200
) -> Array:
    """Solve ``A x = right`` to a residual of `accuracy` times the right side; `scale` is the diagonal of A.

    Started at 0, every iterate points downhill, so any number of rounds gives a useful step.
    """
    x = np.zeros_like(right)
    residual = right.copy()
    ahead = residual / scale
    direction = ahead.copy()
    agreement = float(np.vdot(residual, ahead))
    goal = accuracy * float(np.linalg.norm(right))
    for _ in range(max_rounds):
        image = multiply(direction)
        bend = float(np.vdot(direction, image))
        if bend <= 0:  # flat to rounding: without a ridge, some directions change nothing
            break
        length = agreement / bend
        x += length * direction
        residual -= length * image
        if float(np.linalg.norm(residual)) <= goal:
            break
        ahead = residual / scale
        before, agreement = agreement, float(np.vdot(residual, ahead))
        direction *= agreement / before
        direction += ahead
    return x
