"""`Fold`: cross-fitting inside V, at full cost."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.path import PruningPath, check_budget, first_within
from budgetprune.problem import Pruning
from budgetprune.refit import Kind, Refit, refit_pruning
from budgetprune.selection.candidates import Measure, RefitSpec
from budgetprune.selection.context import FitContext
from budgetprune.selection.nested_scores import scores_of_nested_prunings
from budgetprune.selection.rows import Index
from budgetprune.selection.scored_model import EarlyLabels

# Gradient tolerance of the refits that are compared. Differences in score are larger than its effect.
TRIAL_TOLERANCE = 0.1
# Resolution of the paths that are compared, as a share of the cost of the whole forest.
RESOLUTION = 1 / 30
# Largest number of float64 values for the scores of many points at once (256 MiB).
MAX_SCORES = 2**25


class TrialResult(NamedTuple):
    """Score of a refitted pruning, and its cost as a multiple of the cost before the refit."""

    score: float
    cost_ratio: float = 1.0


class Fold:
    """One fold of V: prunings and refits are built with one half (and T), and evaluated on the other half.

    If errors are measured on T alone, prunings do not depend on labels of V, so their costs are measured on
    all rows of V. Then both folds, and the final model, use the same path.
    """

    def __init__(self, context: FitContext, fitting_rows: Index, scoring_rows: Index) -> None:
        self.context = context
        self._fitting = context.val.take(fitting_rows)
        self.scoring = context.val.take(scoring_rows)
        self._scoring_sample = context.val_sample.take(scoring_rows)
        self._refit_sample = context.trial_sample(fitting_rows)
        self.path = cache(self._path)
        self._path_near = cache(self._path_near_budget)
        self._shift: dict[tuple[Measure, int, Kind], NDArray[np.float64]] = {}

    def _path(self, measure: Measure) -> PruningPath:
        if not measure.uses_labels:
            return self.context.path(measure)
        problem = self.context.problem(measure, self._fitting)
        return self.context.solve_path(
            problem, resolution=RESOLUTION * problem.cost_of(problem.unpruned) or None
        )

    def _path_near_budget(self, measure: Measure, budget: float) -> PruningPath:
        if not measure.uses_labels:
            return self.context.path_near(measure, budget)
        return self.context.solve_path(self.context.problem(measure, self._fitting), budgets=[budget])

    def cost_within(self, measure: Measure, budget: float) -> float:
        """Cost of the pruning for a budget."""
        return pruning_within(self._path_near(measure, budget), budget).cost

    def score(self, measure: Measure, refit: RefitSpec, budget: float) -> float:
        """Score the pruning for a budget, with refitted leaves or without."""
        return self._try_refit(measure, refit, pruning_within(self._path_near(measure, budget), budget)).score

    def try_refit(self, measure: Measure, refit: RefitSpec, budget: float) -> TrialResult:
        """Score the pruning for a budget of full cost, from the path that serves all budgets."""
        return self._try_refit(measure, refit, pruning_within(self.path(measure), budget))

    def _try_refit(self, measure: Measure, refit: RefitSpec, pruning: Pruning) -> TrialResult:
        return TrialResult(self._score(self._refitted(measure, refit, pruning), pruning))

    def _refitted(self, measure: Measure, refit: RefitSpec, pruning: Pruning) -> Pruning | Refit:
        if refit.kind is None:
            return pruning
        # Prunings of one path are nested: those with as many splits are the same.
        key = measure, pruning.n_splits, refit.kind
        result = refit_pruning(
            pruning,
            self._refit_sample,
            refit.kind,
            refit.ridge,
            start=self._shift.get(key),
            tolerance=TRIAL_TOLERANCE,
        )
        self._shift[key] = result.shift
        return result

    def _score(self, pruned: Pruning | Refit, pruning: Pruning, early: EarlyLabels | None = None) -> float:
        scores = self._scoring_sample.leaves(pruning, pruned.forest).score
        return self.context.scorer(pruned, self.scoring, scores, early)

    def scores_for(self, measure: Measure, budgets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score the prunings for many (descending) budgets, with the leaves as they are."""
        path, forest, sample = self.path(measure), self.context.forest, self._scoring_sample
        points = np.array([point_within(path, budget) for budget in budgets])
        size = max(1, MAX_SCORES // (sample.n_rows * forest.n_outputs))
        scores = []
        for some in np.split(points, np.arange(size, points.size, size)):
            sums = scores_of_nested_prunings(
                sample.stop,
                forest.parent,
                np.searchsorted(path.lam[some], path.critical_lambda),
                some.size,
                forest.value,
                forest.tree_output,
                forest.base,
            )
            for point, total in zip(some, sums, strict=True):
                scores.append(self.context.scorer(path[int(point)], self.scoring, total / forest.divisor))
        return np.array(scores)

    def residuals(self, measure: Measure, refit: RefitSpec, pruning: Pruning) -> NDArray[np.float64]:
        """Residuals of the scoring rows, for the pruning with about the same full cost.

        Leaves are refitted on the other rows, and predictions stop early if that changes them.
        """
        own = pruning_within(self.path(measure), pruning.cost)
        pruned = self._refitted(measure, refit, own)
        predictions = self._predictions(pruned, own, refit)
        found: NDArray[np.float64] = self.scoring.y - predictions
        return found

    def _predictions(self, pruned: Pruning | Refit, pruning: Pruning, refit: RefitSpec) -> NDArray[Any]:
        forest = pruned.forest
        return forest.answers(self._scoring_sample.leaves(pruning, forest).score)


def point_within(path: PruningPath, budget: float) -> int:
    """Index of the most expensive point of a path within a budget, or of the cheapest point."""
    return first_within(path.cost, check_budget(budget))


def pruning_within(path: PruningPath, budget: float) -> Pruning:
    """Most expensive pruning of a path within a budget, or the cheapest one."""
    return path[point_within(path, budget)]
