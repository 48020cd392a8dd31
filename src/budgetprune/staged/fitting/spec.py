"""`FitSpec`: inputs of `fit_staged_model`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.folds import Fold, among
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.registry import LearnerCandidates
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.ordering.limits import CostLimits
from budgetprune.staged.training.deadline import Deadline


@dataclass(frozen=True, eq=False)
class FitSpec:
    """Rows, prices, limits and options of a fit.

    Attributes
    ----------
    sample : LearningSample
        Its weights apply to training and losses, and include class weights.
    row_weight : float64 array of shape (n_rows,)
        Weights of the rows in average costs, without class weights.
    classes : array of labels, or None for regression
    costs : CostTable
    folds : folds of cross-fitting
        Rows that no fold tests are used for training only.
    objective : Objective
    fallback : Objective, or None
        Used instead if no point has a better score than acquiring nothing.
    score : Score
        Function that scores cross-fitted outputs.
    candidates : LearnerCandidates
    budget : float
        Limit of the average cost.
    max_cost : float
        Limit of the cost of a row.
    has_error_costs : bool
        Whether errors have costs; then points are compared by loss instead of score.
    records_residuals : bool
        Whether residuals are recorded for prediction intervals: for regression, without queries.
    keeps_full_point : bool
        Whether the curve must contain the point at which all rows acquire all sources.
    deadline : Deadline
    seed, n_jobs : int
    verbose : bool
    """

    sample: LearningSample
    row_weight: NDArray[np.float64]
    classes: NDArray[Any] | None
    costs: CostTable
    folds: Sequence[Fold]
    objective: Objective
    fallback: Objective | None
    score: Score
    candidates: LearnerCandidates
    budget: float
    max_cost: float
    has_error_costs: bool
    keeps_full_point: bool
    records_residuals: bool
    deadline: Deadline
    seed: int
    n_jobs: int
    verbose: bool

    @property
    def limits(self) -> CostLimits:
        """Prices and cost limits, for the orders of sources."""
        return CostLimits(self.costs, self.budget, self.max_cost)

    def of_rows(self, rows: NDArray[np.intp]) -> FitSpec:
        """Return the same for some of the rows, renumbered."""
        counts = np.zeros(len(self.sample), dtype=np.bool_)
        counts[rows] = True
        return replace(
            self,
            sample=self.sample.take(rows),
            row_weight=self.row_weight[rows],
            folds=[among(counts, fold) for fold in self.folds],
            score=lambda some, outputs: self.score(rows[some], outputs),
        )
