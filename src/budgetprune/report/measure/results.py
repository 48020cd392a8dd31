"""Answers, scores and costs of one model on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.summary.outcome import ProbabilityMeasures


@dataclass(frozen=True, eq=False)
class Results:
    """Answers and costs of one model, with one way to count costs.

    Attributes
    ----------
    answer : array of shape (n_rows,)
    score, cost : float64 arrays of shape (n_rows,)
    share : float64 array of shape (n_sources,)
        Share of the rows that acquire each source.
    undecided : float
        Share of the rows undecided at `max_cost`.
    probabilities : ProbabilityMeasures or None
        Measures of the class probabilities of all rows.
    """

    answer: NDArray[Any]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    share: NDArray[np.float64]
    undecided: float
    probabilities: ProbabilityMeasures | None = None

    @property
    def mean_cost(self) -> float:
        return float(self.cost.mean())

    @property
    def mean_score(self) -> float:
        return float(self.score.mean())


def difference(results: Results, other: Results) -> tuple[float, float]:
    """Return the mean difference in score on the same rows, and its standard error."""
    gained = results.score - other.score
    return float(gained.mean()), standard_error(gained)


def standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(values.std() / np.sqrt(values.size))
