"""Folds whose budgets are about decided costs."""

from __future__ import annotations

from functools import cache

import numpy as np

from budgetprune.path import PruningPath
from budgetprune.path.decided import DecidedCosts
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Kind
from budgetprune.selection.context import RESOLUTION, Fold, Measure, Repair, Tried, Workshop
from budgetprune.selection.judge import Decided
from budgetprune.selection.rows import Index
from budgetprune.selection.stopping import Stopping

# While choosing, costs that differ by this share are the same.
PRECISION = 0.02
# A refit changes decided costs. It stays with its point, so that it can start where the last one ended, as
# long as the point costs what it should up to this share; the rest is made up for along the path.
NEAR = 0.1
# What costs even less after a refit says nothing about points far away.
LEAST_RATIO = 0.25
# Full costs at which a path is known, as multiples of a budget of decided cost: steps of 5 %.
MULTIPLES = np.geomspace(1.0, 4.0, 29)


class DecidedFold(Fold):
    """A fold where prunings are compared at equal decided cost, counted on the half of V that judges.

    The other half has no part in that: which rows are decided early depends on leaves, and these were
    refitted on rows whose answers they know.

    Parameters
    ----------
    workshop, makes, judges : see `Fold`
    few : numbers of some judges, enough for an average cost
    stopping : Stopping
    budget : float or None
        Where a path has to be known well.
    """

    def __init__(
        self,
        workshop: Workshop,
        makes: Index,
        judges: Index,
        few: Index,
        stopping: Stopping,
        budget: float | None,
    ) -> None:
        super().__init__(workshop, makes, judges)
        self._few, self._few_judges = few, self.judges.take(few)
        self._stopping, self._budget = stopping, budget
        self._plain = cache(self._decided_costs)
        self._plain_score = cache(self._score_as_it_is)
        self._cost_ratio: dict[tuple[Measure, Kind | None], float] = {}
        self._point: dict[tuple[Measure, Kind | None, float, float], int] = {}

    def _path(self, measure: Measure) -> PruningPath:
        if not measure.uses_labels:
            return self.workshop.path(measure)
        problem = self.workshop.problem(measure, self._makes)
        whole = problem.cost_of(problem.unpruned)
        budgets = np.arange(0.0, 1.0, RESOLUTION) * whole
        if self._budget is not None and np.isfinite(self._budget):
            budgets = np.append(budgets, self._budget * MULTIPLES)
        return problem.path(budgets=budgets)

    def _decided_costs(self, measure: Measure, slack: float) -> DecidedCosts:
        """Of the points of a path, with leaves as they are."""
        return self._stopping.along(self.path(measure), slack, self._few_judges)

    def _score_as_it_is(self, measure: Measure, point: int) -> float:
        pruning = self.path(measure)[point]
        return self._judged(pruning, pruning)

    def spent(self, measure: Measure, budget: float) -> float:
        """What the pruning for a budget acquires."""
        plain = self._plain(measure, 0.0)
        return plain[plain.point_within(budget, precision=PRECISION)]

    def score(self, measure: Measure, repair: Repair, budget: float) -> float:
        """Judge the pruning for a budget of decided cost, with refitted leaves and slack or without.

        What is refitted may acquire more or less than the budget. Then the score that the budget would have
        bought is what was reached, and what lies between the two costs along the path as it is.
        """
        plain = self._plain(measure, repair.slack)
        kind, key = (measure, repair.kind), (measure, repair.kind, repair.slack, budget)
        expected = budget / self._cost_ratio.get(kind, 1.0)
        k = self._point.get(key)
        if k is None or abs(plain[k] - expected) > NEAR * expected:
            k = self._point[key] = plain.point_within(expected, precision=PRECISION)
        score, ratio = self._tried(measure, repair, self.path(measure)[k])
        self._cost_ratio[kind] = max(ratio, LEAST_RATIO)
        there = plain.point_within(budget / self._cost_ratio[kind], precision=PRECISION)
        return score + self._plain_score(measure, there) - self._plain_score(measure, k)

    def _tried(self, measure: Measure, repair: Repair, pruning: Pruning) -> Tried:
        made = self._repaired(measure, repair, pruning)
        decided = None
        if self._stopping.changes_answers(repair.slack):
            simulation = self._stopping.simulate(made.forest, self.judges, repair.slack)
            decided = Decided(simulation.label, repair.slack)
            cost = simulation.cost[self._few]
        else:
            cost = self._stopping.simulate(made.forest, self._few_judges, repair.slack).cost
        path = self.path(measure)
        before = self._plain(measure, repair.slack)[int(np.searchsorted(path.lam, pruning.lam))]
        after = float(np.average(cost, weights=self._few_judges.weight))
        return Tried(self._judged(made, pruning, decided), after / before if before > 0 else 1.0)
