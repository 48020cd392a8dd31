"""What ensembles that add up scores make small: each row's loss, and its first two derivatives.

Scores are those before the link, of shape (n_rows, n_outputs); a target is the number of a row's class, or
for regression a number.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Loss: TypeAlias = Literal["squared", "logistic", "softmax", "poisson", "gamma"]
Array: TypeAlias = NDArray[np.float64]


class Derivatives(NamedTuple):
    """Of each row's loss by each of its scores, both of shape (n_rows, n_outputs).

    `curvature` is the diagonal of the second derivatives; outputs of a softmax are coupled, and that is left
    out, as boosting libraries do when they grow one tree per output.
    """

    gradient: Array
    curvature: Array


def row_loss(loss: Loss, scores: Array, target: NDArray[Any]) -> Array:
    """Loss of each row, of shape (n_rows,): half the squared error, or the negative log-likelihood.

    Terms that do not depend on the scores are left out.
    """
    if loss == "softmax":
        below = _below_greatest(scores)
        return np.asarray(np.log(np.exp(below).sum(axis=1)) - below[np.arange(len(scores)), target])
    score = scores[:, 0]
    if loss == "logistic":
        return np.asarray(np.logaddexp(0.0, np.where(target == 1, -score, score)))
    if loss == "poisson":
        return np.asarray(np.exp(score) - target * score)
    if loss == "gamma":
        return np.asarray(target * np.exp(-score) + score)
    return np.asarray(0.5 * (score - target) ** 2)


def derivatives(loss: Loss, scores: Array, target: NDArray[Any]) -> Derivatives:
    """Gradient and curvature of each row's loss."""
    if loss == "softmax":
        probability = np.exp(_below_greatest(scores))
        probability /= probability.sum(axis=1, keepdims=True)
        gradient = probability.copy()
        gradient[np.arange(len(scores)), target] -= 1.0
        return Derivatives(gradient, probability * (1.0 - probability))
    if loss == "logistic":
        probability = expit(scores)
        return Derivatives(probability - target[:, np.newaxis], probability * (1.0 - probability))
    if loss == "poisson":
        mean = np.exp(scores)
        return Derivatives(mean - target[:, np.newaxis], mean)
    if loss == "gamma":
        ratio = target[:, np.newaxis] * np.exp(-scores)
        return Derivatives(1.0 - ratio, ratio)
    return Derivatives(scores - target[:, np.newaxis], np.ones_like(scores))


def _below_greatest(scores: Array) -> Array:
    """Scores minus the greatest of each row, whose exponentials cannot overflow."""
    below: Array = scores - scores.max(axis=1, keepdims=True)
    return below
