"""Training rows as passed to `fit`, with labels, weights and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from budgetprune.errors import InvalidInputError
from budgetprune.utils.validation import is_missing


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows with their labels, weights and queries; the last two are optional."""

    rows: NDArray[np.float64]
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    qid: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: NDArray[np.intp]) -> TrainingRows:
        """Return some of the rows."""
        return TrainingRows(
            self.rows[chosen],
            self.labels[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.qid is None else self.qid[chosen],
        )


def unit_weights(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Scale weights to an average of about 1 over rows of positive weight; learners depend on the scale.

    The factor is a power of two, so the scaling is exact.
    """
    if weight is None:
        return None
    return np.asarray(np.ldexp(weight, -int(np.rint(np.log2(weight[weight > 0].mean())))))


def queries_of(X: Any, qid: Any) -> NDArray[Any] | None:
    """Validate the queries of rows; None if there are none."""
    if qid is None:
        return None
    found: NDArray[Any] = column_or_1d(qid)
    check_consistent_length(X, found)
    if is_missing(found).any():
        raise InvalidInputError("qid has missing values; give the query of each row.")
    return found
