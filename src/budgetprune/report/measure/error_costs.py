"""Costs of wrong predictions, in the unit of the prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class ErrorPrices:
    """Costs of wrong predictions.

    Attributes
    ----------
    matrix : float64 array of shape (n_classes, n_classes), or None for regression
        Cost by true class (first index) and predicted class.
    squared : float or None
        Regression: cost of a unit of squared error.
    """

    matrix: NDArray[np.float64] | None
    squared: float | None

    @classmethod
    def of(cls, costs: Any, classes: NDArray[Any] | None) -> ErrorPrices:
        """Read costs as users give them.

        Parameters
        ----------
        costs : a number for all errors, a mapping from true labels to numbers, or a matrix; for regression,
            the cost of a unit of squared error
        classes : labels of the model, or None for regression
        """
        if classes is None:
            if not isinstance(costs, int | float) or not 0 <= costs < np.inf:
                raise InvalidInputError(
                    "error_costs of a regression is one number of at least 0, the price of a unit of squared "
                    "error."
                )
            return cls(None, float(costs))
        others = 1 - np.eye(classes.size)
        if isinstance(costs, Mapping):
            costs = _by_class(costs, classes)[:, np.newaxis] * others
        elif np.ndim(costs) == 0:
            costs = float(costs) * others
        matrix = np.asarray(costs, dtype=np.float64)
        if matrix.shape != others.shape or not np.all(np.isfinite(matrix) & (matrix >= 0)):
            raise InvalidInputError(
                f"error_costs must be finite and at least 0: a number, one for each of {classes.size} "
                "labels, or a matrix of true by predicted labels."
            )
        return cls(matrix, None)

    def of_answers(self, truth: NDArray[Any], answer: NDArray[Any]) -> NDArray[np.float64]:
        """Return the cost of each answer.

        Parameters
        ----------
        truth, answer : class indices, or targets
        """
        if self.matrix is None:
            assert self.squared is not None
            return np.asarray(self.squared * (answer - truth) ** 2)
        return np.asarray(self.matrix[truth, answer])


def _by_class(costs: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return costs in the order of the classes; labels may be given as strings."""
    given = {str(label): cost for label, cost in costs.items()}
    names = [str(label) for label in classes.tolist()]
    if given.keys() != set(names):
        wrong = sorted(given.keys() ^ set(names))
        raise InvalidInputError(
            f"error_costs needs one number for each label of the model, {join_first(map(repr, names))}; "
            f"{join_first(map(repr, wrong))} is missing or unknown."
        )
    return np.array([given[name] for name in names], dtype=np.float64)
