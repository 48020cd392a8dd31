"""Rows that trees are grown on, how they are grown, and the trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.columns import Columns

Kind = Literal["binary", "multiclass", "regression", "positive"]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How trees are grown.

    Attributes
    ----------
    n_leaves : largest number of leaves of a tree
    extra : whether one random threshold is tried for each feature, instead of all
    learning_rate : float
    most_rounds : largest number of rounds of one stage
    least_rows : smallest number of rows in a leaf
    """

    n_leaves: int = 31
    extra: bool = True
    learning_rate: float = 0.1
    most_rounds: int = 500
    least_rows: int = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """Training rows.

    Attributes
    ----------
    rows : float64 array of shape (n_rows, n_features)
    target : class numbers, or targets
    weight : float64 array, or None
    columns : Columns
    kind : {"binary", "multiclass", "regression", "positive"}
        "positive" is regression with positive targets, on the logarithmic scale.
    n_outputs : number of scores of a row
    """

    rows: NDArray[np.float64]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    columns: Columns
    kind: Kind
    n_outputs: int

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, rows=self.rows[rows], target=self.target[rows], weight=weight)


class Grown(ABC):
    """Trees that were grown for a stage; they add to the scores that they were started with."""

    n_rounds: int

    @abstractmethod
    def scores(self, rows: NDArray[np.float64]) -> Scores:
        """Add up what the trees answer, of shape (n_rows, n_outputs)."""

    @abstractmethod
    def forest(self) -> Forest:
        """Return the trees."""


@dataclass(frozen=True, eq=False)
class Validation:
    """Rows that say when to stop, and the scores that they start with."""

    sample: Sample
    start: Scores | None


def mean_loss(sample: Sample, scores: Scores) -> float:
    """Compute the loss that training makes small, per unit of weight."""
    return float(np.average(row_losses(sample, scores), weights=sample.weight))


def row_losses(sample: Sample, scores: Scores) -> NDArray[np.float64]:
    """Compute the loss that training makes small, for each row."""
    if sample.kind == "binary":
        sign = np.where(sample.target == 1, -1.0, 1.0)
        loss = np.logaddexp(0, sign * scores[:, 0])
    elif sample.kind == "multiclass":
        loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(sample)), sample.target]
    elif sample.kind == "regression":
        loss = (sample.target - scores[:, 0]) ** 2
    else:
        loss = scores[:, 0] + sample.target * np.exp(-scores[:, 0])
    return np.asarray(loss)
