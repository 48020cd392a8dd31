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
from budgetprune.refit.minimum import Minimum, reference_norm

# Usually a few steps suffice. Leaves whose rows have one class, without a ridge, take the most.
MAX_STEPS = 100
# Steps far from the minimum need not be exact: the residual is at most this share of the gradient, and falls
# with it, so that the last steps are accurate (Eisenstat and Walker).
LOOSEST = 0.5
# A step is shortened until the objective decreases by this share of the predicted decrease (Armijo).
SUFFICIENT = 1e-4
MAX_HALVINGS = 40
# Except in least squares, scores are on a logarithmic scale: no step changes one by more than this.
FARTHEST = 20.0
# Relative rounding error of the objective.
ROUNDING = 1e-14
# Smallest diagonal entry of the Hessian, as a share of the largest: a leaf may have no rows, and no ridge.
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
    objective = RefitObjective(leaves, find_loss(loss), target, weight, ridge)
    zero = np.zeros_like(start)
    value = objective.value(zero, leaves.score)
    if not np.isfinite(value.total):
        raise InvalidInputError(
            f"the {loss} loss of these rows is too large to add up: the forest's scores go from "
            f"{leaves.score.min():g} to {leaves.score.max():g}, and y from {target.min():g} to "
            f"{target.max():g}. Use rows like those that the forest was trained on."
        )
    old = here = objective.at(zero, leaves.score, value)
    if start.any():
        scores = leaves.score + leaves.scores(start)
        value = objective.value(start, scores)
        if value.total <= old.value.total:
            here = objective.at(start, scores, value)
    reference = reference_norm(leaves, old.norm, weight[:, np.newaxis] * old.by_row.gradient)
    n_steps = 0
    while here.norm > tolerance * reference and n_steps < max_steps:
        new = objective.step(here, min(LOOSEST, np.sqrt(here.norm / reference)))
        if new is None or (new.norm >= here.norm and here.value.total - new.value.total <= here.value.noise):
            break  # the minimum is reached up to rounding
        here, n_steps = new, n_steps + 1
    return Minimum(leaves.value + leaves.forest.divisor * here.shift, here.norm / reference, n_steps)


class Value(NamedTuple):
    """Value of the objective, and a bound of its rounding error."""

    total: float
    noise: float


@dataclass(frozen=True, eq=False)
class Iterate:
    """Shifts of the leaves, with the objective and its derivatives."""

    shift: Array
    scores: Array
    value: Value
    by_row: Derivatives
    gradient: Array
    norm: float


@dataclass(frozen=True, eq=False)
class RefitObjective:
    """Loss of the rows, plus ridge."""

    leaves: Leaves
    loss: Loss
    target: NDArray[Any]
    weight: Array
    ridge: float

    def value(self, shift: Array, scores: Array) -> Value:
        """Compute the objective, which may be infinite or NaN after a long step."""
        with np.errstate(over="ignore", invalid="ignore"):
            by_row = self.loss.value(scores, self.target)
            penalty = 0.5 * self.ridge * dot(shift, shift)
            noise = ROUNDING * (dot(self.weight, abs(by_row)) + penalty)
            return Value(dot(self.weight, by_row) + penalty, noise)

    def at(self, shift: Array, scores: Array, value: Value) -> Iterate:
        """Compute derivatives at a point with a finite value."""
        by_row = self.loss.derivatives(scores, self.target)
        gradient = self.ridge * shift
        self.leaves.add_sums(self.weight[:, np.newaxis] * by_row.gradient, gradient)
        return Iterate(shift, scores, value, by_row, gradient, length(gradient))

    def step(self, here: Iterate, accuracy: float) -> Iterate | None:
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
        """Diagonal of the Hessian, slightly above 0 at least."""
        diagonal = self.leaves.sums(self.weight[:, np.newaxis] * by_row.curvature) + self.ridge
        return np.maximum(diagonal, FLATTEST * (diagonal.max() or 1.0))

    def hessian(self, here: Iterate) -> Callable[[Array, Array], None]:
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
