"""What is given to `fit_staged_model`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.folds import Fold, among
from budgetprune.staged.data.sample import Sample
from budgetprune.staged.learners.registry import LearnerCandidates
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.ordering.limits import CostLimits
from budgetprune.staged.training.deadline import Deadline


@dataclass(frozen=True, eq=False)
class FitSpec:
    """Rows, prices and limits of a fit.

    Attributes
    ----------
    sample : Sample
        Its weights count in training and for losses; with class weights, they depend on the class.
    row_weight : float64 array of shape (n_rows,)
        Weights of the rows in average costs, whatever their class is.
    classes : what they are called, or None
    costs : CostTable
    folds : of cross-fitting
        Rows that are tested in none of them have a part in training only.
    objective : Objective
    fallback : Objective, or None
        By which points are judged if none has a better score than buying nothing.
    score : of cross-fitted outputs
    candidates : what may grow the trees
    budget : what rows may cost on average
    max_cost : what a row may cost, at most
    has_error_costs : whether wrong answers have prices: then points with less loss are better
    keeps_everything : whether the point at which all rows buy everything is on the curve in any case
    deadline : Deadline
    seed, n_jobs : int
    verbose : bool
    """

    sample: Sample
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
    deadline: Deadline
    seed: int
    n_jobs: int
    verbose: bool

    @property
    def limits(self) -> CostLimits:
        """Prices and limits of the cost, for orders of sources."""
        return CostLimits(self.costs, self.budget, self.max_cost)

    def of_rows(self, rows: NDArray[np.intp]) -> FitSpec:
        """Return the same for some of the rows, which are numbered anew."""
        counts = np.zeros(len(self.sample), dtype=np.bool_)
        counts[rows] = True
        return replace(
            self,
            sample=self.sample.take(rows),
            row_weight=self.row_weight[rows],
            folds=[among(counts, fold) for fold in self.folds],
            score=lambda some, outputs: self.score(rows[some], outputs),
        )
