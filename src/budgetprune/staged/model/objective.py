"""Objectives of stopping rules: the loss of an answer, and its expectation (uncertainty)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = NDArray[np.float64]
_TINY = 1e-15


class Objective(ABC):
    """Loss of the outputs of a stage, and its expectation.

    *Outputs* are class probabilities, of shape (n_rows, n_classes), or for regression the predicted target
    and its expected squared error, of shape (n_rows, 2).
    """

    @abstractmethod
    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        """Compute the loss of each row, given class indices or targets."""

    @abstractmethod
    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        """Compute the expected loss of each row, according to the outputs themselves."""

    @abstractmethod
    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        """Compute the expected loss of each row, if `truth` has the true probabilities."""


class ErrorCostObjective(Objective):
    """Cost of the predicted class.

    Parameters
    ----------
    cost : float64 array of shape (n_classes, n_classes)
        Cost by true class (first index) and predicted class.
    """

    def __init__(self, cost: NDArray[np.float64]) -> None:
        self.cost = cost
        self._is_zero_one = bool(np.array_equal(cost, 1 - np.eye(len(cost))))

    def answers(self, probabilities: Outputs) -> NDArray[np.intp]:
        """Return the index of the class with the lowest expected cost; ties go to the first."""
        if self._is_zero_one:
            return np.asarray(np.argmax(probabilities, axis=1))
        return np.asarray(np.argmin(self._expected(probabilities), axis=1))

    def _expected(self, probabilities: Outputs) -> NDArray[np.float64]:
        """Compute the expected cost of each class.

        A matrix product is not used, because its rounding depends on the number of rows.
        """
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


class ThresholdObjective(ErrorCostObjective):
    """Error of the class that a threshold chooses: the second of two if its probability is at least that.

    A threshold t says that a wrong second class is as bad as t / (1 - t) wrong first ones.
    """

    def __init__(self, threshold: float) -> None:
        super().__init__(np.array([[0.0, 2 * threshold], [2 * (1 - threshold), 0.0]]))
        self.threshold = threshold

    def answers(self, probabilities: Outputs) -> NDArray[np.intp]:
        return np.asarray(probabilities[:, 1] >= self.threshold, dtype=np.intp)


class LogLossObjective(Objective):
    """Negative logarithm of the probability of the true class; for metrics of probabilities or rankings."""

    def loss(self, outputs: Outputs, y: NDArray[Any]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = -np.log(np.maximum(outputs[np.arange(len(y)), y], _TINY))
        return found

    def uncertainty(self, outputs: Outputs) -> NDArray[np.float64]:
        return self.soft_loss(outputs, outputs)

    def soft_loss(self, outputs: Outputs, truth: Outputs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = -np.sum(truth * np.log(np.maximum(outputs, _TINY)), axis=1)
        return found


class SquaredErrorObjective(Objective):
    """Squared error of the target, times the cost of a unit."""

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
