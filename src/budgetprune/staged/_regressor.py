"""`BudgetRegressor`: the best regression model for a budget."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from budgetprune.errors import InvalidInputError
from budgetprune.staged._base import BudgetModel
from budgetprune.staged._objective import LARGEST_PRICE, Objective, SquaredError
from budgetprune.staged._points import Score
from budgetprune.staged._sample import Sample


class BudgetRegressor(RegressorMixin, BudgetModel):  # type: ignore[misc]
    """Train the best regression model for a budget."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows and their targets.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars table of shape (n_rows, n_features)
        y : array-like of numbers, of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        """
        return self._fit(X, y, sample_weight)

    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Sample:
        try:
            target = np.asarray(labels, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"y must hold numbers ({error}); for classes, use BudgetClassifier."
            ) from error
        if not np.all(np.isfinite(target)):
            raise InvalidInputError("y contains NaN or infinity; leave such rows out.")
        return Sample(rows, target, weight, self._columns, "regression", 1)

    def _make_objective(self) -> Objective:
        price = 1.0 if self.error_costs is None else self.error_costs
        if not isinstance(price, int | float) or not 0 < price <= LARGEST_PRICE:
            raise InvalidInputError(
                "error_costs must be a positive number, the price of a unit of squared error, up to "
                f"{LARGEST_PRICE:g}; not {price!r}."
            )
        return SquaredError(float(price))

    def _make_score(self, sample: Sample) -> Score:
        weight = np.ones(len(sample)) if sample.weight is None else sample.weight
        if self.scoring is None:
            total = np.average(
                (sample.target - np.average(sample.target, weights=weight)) ** 2, weights=weight
            )

            def r2(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
                # Of all rows together: a fold may be too small for a variance of its own.
                error = np.average((sample.target[rows] - outputs[:, 0]) ** 2, weights=weight[rows])
                return float(1 - error / total) if total > 0 else 0.0

            return r2
        scorer = get_scorer(self.scoring)

        def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
            return float(scorer(Seen(outputs), outputs, sample.target[rows]))

        return score

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each row, at the stage where it stops."""
        return self._follow(X)[1][:, 0]


class Seen(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose outputs are known, for scorers."""

    def __init__(self, outputs: NDArray[np.float64]) -> None:
        self._outputs = outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the targets."""
        return self._outputs[:, 0]
