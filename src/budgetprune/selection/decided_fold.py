"""`DecidedFold`: cross-fitting inside V, at decided cost."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.path import DecidedCosts, PruningPath
from budgetprune.problem import Pruning
from budgetprune.refit import Kind, Refit
from budgetprune.selection.candidates import Measure, RefitSpec
from budgetprune.selection.context import FitContext
from budgetprune.selection.decided_counting import DecidedCounting
from budgetprune.selection.fold import RESOLUTION, Fold, TrialResult
from budgetprune.selection.rows import Index
from budgetprune.selection.scored_model import EarlyLabels

# Costs that differ by at most this share count as equal while candidates are compared.
PRECISION = 0.02
# A refit changes decided costs. The point of a candidate is kept, so that its next refit can start from the
# last one, while its cost differs from the expected one by at most this share; the score is corrected for
# the difference.
MAX_DIFFERENCE = 0.1
# Lower bound of the ratio of decided costs after and before a refit: a smaller ratio tells nothing about
# other points of the path.
MIN_RATIO = 0.25
# Full costs at which a path is computed, as multiples of a budget of decided cost: steps of 5 %.
MULTIPLES = np.geomspace(1.0, 4.0, 29)


class DecidedFold(Fold):
    """Fold that compares prunings at equal decided cost, measured on the scoring half of V.

    It cannot be measured on the other half: leaves are refitted on the labels of that half, so its rows would
    be decided too early.

    Parameters
    ----------
    context, fitting_rows, scoring_rows : see `Fold`
    trial_rows : int array
        Indices into the scoring rows, enough rows for an average cost.
    counting : DecidedCounting
    """

    def __init__(
        self,
        context: FitContext,
        fitting_rows: Index,
        scoring_rows: Index,
        trial_rows: Index,
        counting: DecidedCounting,
    ) -> None:
        super().__init__(context, fitting_rows, scoring_rows)
        self._trial_rows, self._trial = trial_rows, self.scoring.take(trial_rows)
        self._counting = counting
        self._costs = cache(self._path_costs)
        self._unchanged_score = cache(self._score_of_point)
        self._cost_ratio: dict[tuple[Measure, Kind | None], float] = {}
        self._point: dict[tuple[Measure, Kind | None, float, float], int] = {}

    def _path(self, measure: Measure) -> PruningPath:
        if not measure.uses_labels:
            return self.context.path(measure)
        problem = self.context.problem(measure, self._fitting)
        budget = self.context.options.budget
        budgets = np.arange(0.0, 1.0, RESOLUTION) * problem.cost_of(problem.unpruned)
        if budget is not None and np.isfinite(budget):
            budgets = np.append(budgets, budget * MULTIPLES)
        return self.context.solve_path(problem, budgets=budgets)

    def _path_costs(self, measure: Measure, slack: float) -> DecidedCosts:
        """Decided costs of the points of a path, with the leaves as they are."""
        return self._counting.path_costs(self.path(measure), slack, self._trial)

    def _score_of_point(self, measure: Measure, point: int) -> float:
        pruning = self.path(measure)[point]
        return self._score(pruning, pruning)

    def cost_within(self, measure: Measure, budget: float) -> float:
        """Decided cost of the pruning for a budget."""
        costs = self._costs(measure, 0.0)
        return costs[costs.point_within(budget, precision=PRECISION)]

    def score(self, measure: Measure, refit: RefitSpec, budget: float) -> float:
        """Score the pruning for a budget of decided cost, with or without refitted leaves and slack.

        After a refit, predictions may cost more or less than the budget. The score is corrected for that: by
        the difference in score, with the leaves as they are, between the points of the two costs.
        """
        costs = self._costs(measure, refit.slack)
        kind, key = (measure, refit.kind), (measure, refit.kind, refit.slack, budget)
        expected = budget / self._cost_ratio.get(kind, 1.0)
        k = self._point.get(key)
        if k is None or abs(costs[k] - expected) > MAX_DIFFERENCE * expected:
            k = self._point[key] = costs.point_within(expected, precision=PRECISION)
        score, ratio = self._try_refit(measure, refit, self.path(measure)[k])
        self._cost_ratio[kind] = max(ratio, MIN_RATIO)
        at_budget = costs.point_within(budget / self._cost_ratio[kind], precision=PRECISION)
        return score + self._unchanged_score(measure, at_budget) - self._unchanged_score(measure, k)

    def _predictions(self, pruned: Pruning | Refit, pruning: Pruning, refit: RefitSpec) -> NDArray[Any]:
        if not self._counting.changes_labels(refit.slack):
            return super()._predictions(pruned, pruning, refit)
        return self._counting.simulate(pruned.forest, self.scoring, refit.slack).label

    def _try_refit(self, measure: Measure, refit: RefitSpec, pruning: Pruning) -> TrialResult:
        pruned = self._refitted(measure, refit, pruning)
        early = None
        if self._counting.changes_labels(refit.slack):
            simulation = self._counting.simulate(pruned.forest, self.scoring, refit.slack)
            early = EarlyLabels(simulation.label, refit.slack)
            cost = simulation.cost[self._trial_rows]
        else:
            cost = self._counting.simulate(pruned.forest, self._trial, refit.slack).cost
        path = self.path(measure)
        before = self._costs(measure, refit.slack)[int(np.searchsorted(path.lam, pruning.lam))]
        after = float(np.average(cost, weights=self._trial.weight))
        return TrialResult(self._score(pruned, pruning, early), after / before if before > 0 else 1.0)
