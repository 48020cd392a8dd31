"""Newton's method for the values of all leaves at once, each step by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.losses import Array, Derivatives, Loss, find_loss
from budgetprune.refit.conjugate import conjugate_gradients, dot, length
from budgetprune.refit.leaves import Leaves
from budgetprune.refit.minimum import Minimum, yardstick

# A few steps are the rule; leaves whose rows are all on one side, without a ridge, take the most.
MAX_STEPS = 100
# A step need not be exact while the goal is far: its residual is at most this share of the gradient, and
# falls with the gradient, so that the last steps are good ones (Eisenstat and Walker).
LOOSEST = 0.5
# A step is shortened until the objective falls by this share of what its slope promises (Armijo).
SUFFICIENT = 1e-4
MAX_HALVINGS = 40
# Scores other than those of least squares are logarithms of something: no step moves one farther than this.
FARTHEST = 20.0
# Objectives that differ by less, relative to all that they add up, may be equal but for rounding.
ROUNDING = 1e-14
# Least diagonal entry of the Hessian, as a share of the greatest: a leaf may have no rows, and no ridge.
FLATTEST = 1e-30


def minimise(
    leaves: Leaves,
    loss: str,
    target: NDArray[Any],
    weight: Array,
    ridge: float,
    *,
    start: Array,
    tolerance: float,
    max_steps: int = MAX_STEPS,
) -> Minimum:
    """Find the shifts x with the least ``sum_i w_i loss(score_i + (Z x)_i) + ridge |x|^2 / 2``.

    The objective is convex, and strictly so for a positive ridge; each step lowers it, so the method
    converges from any start.
    """
    objective = Objective(leaves, find_loss(loss), target, weight, ridge)
    nowhere = np.zeros_like(start)
    value = objective.value(nowhere, leaves.score)
    if not np.isfinite(value.total):
        raise InvalidInputError(
            f"the {loss} loss of these rows is too large to add up: the forest's scores go from "
            f"{leaves.score.min():g} to {leaves.score.max():g}, and y from {target.min():g} to "
            f"{target.max():g}. Are these the rows it is made for?"
        )
    old = here = objective.at(nowhere, leaves.score, value)
    if start.any():
        scores = leaves.score + leaves.scores(start)
        value = objective.value(start, scores)
        if value.total <= old.value.total:
            here = objective.at(start, scores, value)
    reference = yardstick(leaves, old.norm, weight[:, np.newaxis] * old.by_row.gradient)
    n_steps = 0
    while here.norm > tolerance * reference and n_steps < max_steps:
        new = objective.step(here, min(LOOSEST, np.sqrt(here.norm / reference)))
        if new is None or (new.norm >= here.norm and here.value.total - new.value.total <= here.value.noise):
            break  # rounding is all that is left between here and the minimum
        here, n_steps = new, n_steps + 1
    return Minimum(leaves.value + leaves.forest.divisor * here.shift, here.norm / reference, n_steps)


class Value(NamedTuple):
    """Value of the objective, and how much of it may be rounding."""

    total: float
    noise: float


@dataclass(frozen=True, eq=False)
class Point:
    """Shifts of the leaves, with the objective and its derivatives."""

    shift: Array
    scores: Array
    value: Value
    by_row: Derivatives
    gradient: Array
    norm: float


@dataclass(frozen=True, eq=False)
class Objective:
    """Loss of the rows, plus ridge."""

    leaves: Leaves
    loss: Loss
    target: NDArray[Any]
    weight: Array
    ridge: float

    def value(self, shift: Array, scores: Array) -> Value:
        """Add up, wherever a step may have led: the value may be infinite, or NaN."""
        with np.errstate(over="ignore", invalid="ignore"):
            by_row = self.loss.value(scores, self.target)
            penalty = 0.5 * self.ridge * dot(shift, shift)
            noise = ROUNDING * (dot(self.weight, abs(by_row)) + penalty)
            return Value(dot(self.weight, by_row) + penalty, noise)

    def at(self, shift: Array, scores: Array, value: Value) -> Point:
        """Compute derivatives at a point with a finite value."""
        by_row = self.loss.derivatives(scores, self.target)
        gradient = self.ridge * shift
        self.leaves.add_sums(self.weight[:, np.newaxis] * by_row.gradient, gradient)
        return Point(shift, scores, value, by_row, gradient, length(gradient))

    def step(self, here: Point, accuracy: float) -> Point | None:
        """Take a Newton step, shortened until it lowers the objective; None if none does."""
        step = conjugate_gradients(self.hessian(here), -here.gradient, self.diagonal(here.by_row), accuracy)
        slope, along = dot(here.gradient, step), self.leaves.scores(step)
        share = 1.0 if self.loss.is_quadratic else FARTHEST / max(FARTHEST, abs(along).max())
        for _ in range(MAX_HALVINGS):
            shift, scores = here.shift + share * step, here.scores + share * along
            value = self.value(shift, scores)
            if value.total <= here.value.total + SUFFICIENT * share * slope + here.value.noise:
                return self.at(shift, scores, value)
            share /= 2
        return None

    def diagonal(self, by_row: Derivatives) -> Array:
        """Diagonal of the Hessian, a little above 0 at least."""
        diagonal = self.leaves.sums(self.weight[:, np.newaxis] * by_row.curvature) + self.ridge
        return np.maximum(diagonal, FLATTEST * (diagonal.max() or 1.0))

    def hessian(self, here: Point) -> Callable[[Array, Array], None]:
        """Multiply by the Hessian at a point: ``Z' W C Z + ridge``, C the second derivatives of each row."""
        along = np.empty_like(here.scores)
        multiply_rows = self.loss.second_derivatives(here.by_row, self.target, self.weight)

        def multiply(direction: Array, image: Array) -> None:
            along.fill(0.0)
            self.leaves.add_scores(direction, along)
            multiply_rows(along)
            np.multiply(direction, self.ridge, out=image)
            self.leaves.add_sums(along, image)

        return multiply
