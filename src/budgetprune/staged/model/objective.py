"""What a wrong answer costs: the loss of an answer, and the loss that is expected of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = NDArray[np.float64]
_TINY = 1e-15


class Objective(ABC):
    """A loss function, as stopping rules use it.

    *Outputs* are what a stage says about rows: probabilities of classes, of shape (n_rows, n_classes), or for
    regression the target and its expected squared error, of shape (n_rows, 2).
    """

    @abstractmethod
    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        """Compute what the answers to rows cost, given their classes by number, or their targets."""

    @abstractmethod
    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        """Compute the loss that a stage expects of its own answers."""

    @abstractmethod
    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        """Compute what the answers cost on average if the truth is as probable as `truth` says."""


class ErrorCosts(Objective):
    """A price for each kind of error; by default 1 for each error.

    Parameters
    ----------
    cost : float64 array of shape (n_classes, n_classes)
        What it costs to answer with the second class if the first one is true.
    """

    def __init__(self, cost: NDArray[np.float64]) -> None:
        self.cost = cost
        self._is_zero_one = bool(np.array_equal(cost, 1 - np.eye(len(cost))))

    def answers(self, probabilities: Outputs) -> NDArray[np.intp]:
        """Return the class with the least expected cost, by its number; the first one of equals."""
        if self._is_zero_one:
            return np.asarray(np.argmax(probabilities, axis=1))
        return np.asarray(np.argmin(self._expected(probabilities), axis=1))

    def _expected(self, probabilities: Outputs) -> NDArray[np.float64]:
        """Compute expected costs. The last bits of a matrix product would depend on the number of rows."""
        total = np.zeros_like(probabilities)
        for c, cost in enumerate(self.cost):
            total += probabilities[:, c : c + 1] * cost
        return total

    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(self.cost[y, self.answers(outputs)])

    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        if self._is_zero_one:
            return np.asarray(1 - np.max(outputs, axis=1))
        return np.asarray(np.min(self._expected(outputs), axis=1))

    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.einsum("ic,ic->i", truth, self.cost.T[self.answers(outputs)])
        return found


class LogLoss(Objective):
    """Minus the logarithm of the probability of the true class: for scores that rank or use probabilities."""

    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = -np.log(np.maximum(outputs[np.arange(len(y)), y], _TINY))
        return found

    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        return self.soft_loss(outputs, outputs)

    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = -np.sum(truth * np.log(np.maximum(outputs, _TINY)), axis=1)
        return found


class SquaredError(Objective):
    """Squared error of the target, times a price."""

    def __init__(self, price: float = 1.0) -> None:
        self.price = price

    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.price * (y - outputs[:, 0]) ** 2
        return found

    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.price * outputs[:, 1]
        return found

    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.price * ((outputs[:, 0] - truth[:, 0]) ** 2 + truth[:, 1])
        return found
