"""Training rows in the form that learners need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.columns import FeatureSchema

Kind = Literal["binary", "multiclass", "regression", "positive"]
Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearningSample:
    """Training rows with numeric features and targets.

    Attributes
    ----------
    rows : float64 array of shape (n_rows, n_features)
    target : class indices, or numbers for regression
    weight : float64 array, or None
    columns : FeatureSchema
    kind : {"binary", "multiclass", "regression", "positive"}
        "positive" is regression of positive targets; scores are logarithms.
    n_outputs : number of scores per row
    """

    rows: NDArray[np.float64]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    columns: FeatureSchema
    kind: Kind
    n_outputs: int

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> LearningSample:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, rows=self.rows[rows], target=self.target[rows], weight=weight)
