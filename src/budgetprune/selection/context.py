"""Where prunings are made and judged: all rows with their roles, and the two halves of V."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.forest import Forest
from budgetprune.path import PruningPath, check_budget, first_within
from budgetprune.problem import PruningProblem, find_error_estimate
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Kind, Refit, Sample, refit_pruning
from budgetprune.selection.judge import Decided, Judge, scores_along
from budgetprune.selection.rows import Index, LabelledRows

# While choosing, refits may be this rough: differences in score are larger.
ROUGH = 0.1
# Paths are computed to this share of the whole cost while choosing.
RESOLUTION = 1 / 30
# Memory for the scores of many points at once, in numbers.
MOST_SCORES = 2**25


@dataclass(frozen=True)
class Measure:
    """How errors of nodes are measured: `error` and `loss` of a `PruningProblem`."""

    error: Any
    loss: Any = None

    @property
    def uses_labels(self) -> bool:
        """Whether errors depend on labels of validation rows."""
        return find_error_estimate(self.error).uses_cost_labels


@dataclass(frozen=True)
class Repair:
    """How leaves are refitted (a kind and its ridge, or not at all), and the slack of predictions.

    The slack is that of `BudgetPredictor`, and 0 where full costs count.
    """

    kind: Kind | None = None
    ridge: float = np.nan
    slack: float = 0.0


class Tried(NamedTuple):
    """What came of a repair: its score, and its cost as a multiple of what it was before."""

    score: float
    cost_ratio: float = 1.0


@dataclass(frozen=True, eq=False)
class Workshop:
    """A forest, and all that is needed to prune it, refit it, and see how good it is then."""

    forest: Forest
    costs: FeatureCosts
    prices: CostTable
    train: LabelledRows | None
    val: LabelledRows
    train_sample: Sample | None
    val_sample: Sample
    judge: Judge

    def problem(self, measure: Measure, rows: LabelledRows | None = None) -> PruningProblem:
        """What is to be pruned, with costs counted on `rows` (None: all of V)."""
        rows = self.val if rows is None else rows
        train = self.train
        return PruningProblem(
            self.forest,
            rows.X,
            rows.y,
            costs=self.costs,
            error=measure.error,
            loss=measure.loss,
            X_train=None if train is None else train.X,
            y_train=None if train is None else train.y,
            sample_weight=rows.weight,
            sample_weight_train=None if train is None else train.weight,
        )

    @cached_property
    def _paths(self) -> dict[Measure, PruningPath]:
        return {}

    def path(self, measure: Measure, verbose: bool = False) -> PruningPath:
        """All optimal prunings, with costs counted on all of V."""
        if measure not in self._paths:
            self._paths[measure] = self.problem(measure).path(verbose=verbose)
        return self._paths[measure]

    def path_near(self, measure: Measure, budget: float) -> PruningPath:
        """As much of the path as a budget needs."""
        if measure in self._paths:
            return self._paths[measure]
        if (measure, budget) not in self._near:
            self._near[measure, budget] = self.problem(measure).path(budgets=[budget])
        return self._near[measure, budget]

    @cached_property
    def _near(self) -> dict[tuple[Measure, float], PruningPath]:
        return {}

    @cached_property
    def refit_sample(self) -> Sample:
        """T and V, to refit the leaves on once everything is chosen."""
        return self._with_train(self.val_sample)

    def trial_sample(self, val_rows: Index) -> Sample:
        """T and some rows of V, to try refits on."""
        return self._with_train(self.val_sample.take(val_rows))

    def _with_train(self, val: Sample) -> Sample:
        return val if self.train_sample is None else self.train_sample + val


class Fold:
    """One half of V makes prunings and refits leaves (together with T), the other half judges them.

    Where errors are measured on T alone, no label of V has a part in a pruning, and all of V can count its
    costs: one path serves both folds, and the end.
    """

    def __init__(self, workshop: Workshop, makes: Index, judges: Index) -> None:
        self.workshop = workshop
        self._makes = workshop.val.take(makes)
        self.judges = workshop.val.take(judges)
        self._judge_sample = workshop.val_sample.take(judges)
        self._refit_sample = workshop.trial_sample(makes)
        self.path = cache(self._path)
        self._near = cache(self._path_near)
        self._shift: dict[tuple[Measure, int, Kind], NDArray[np.float64]] = {}

    def _path(self, measure: Measure) -> PruningPath:
        if not measure.uses_labels:
            return self.workshop.path(measure)
        problem = self.workshop.problem(measure, self._makes)
        return problem.path(resolution=RESOLUTION * problem.cost_of(problem.unpruned) or None)

    def _path_near(self, measure: Measure, budget: float) -> PruningPath:
        if not measure.uses_labels:
            return self.workshop.path_near(measure, budget)
        return self.workshop.problem(measure, self._makes).path(budgets=[budget])

    def spent(self, measure: Measure, budget: float) -> float:
        """What the pruning for a budget costs."""
        return within(self._near(measure, budget), budget).cost

    def score(self, measure: Measure, repair: Repair, budget: float) -> float:
        """Judge the pruning for a budget, with refitted leaves or without."""
        return self._tried(measure, repair, within(self._near(measure, budget), budget)).score

    def tried(self, measure: Measure, repair: Repair, budget: float) -> Tried:
        """Judge the pruning for a budget of full cost, from the path that serves all budgets."""
        return self._tried(measure, repair, within(self.path(measure), budget))

    def _tried(self, measure: Measure, repair: Repair, pruning: Pruning) -> Tried:
        return Tried(self._judged(self._repaired(measure, repair, pruning), pruning))

    def _repaired(self, measure: Measure, repair: Repair, pruning: Pruning) -> Pruning | Refit:
        if repair.kind is None:
            return pruning
        key = measure, pruning.n_splits, repair.kind  # prunings are nested: as many splits are the same ones
        found = refit_pruning(
            pruning,
            self._refit_sample,
            repair.kind,
            repair.ridge,
            start=self._shift.get(key),
            tolerance=ROUGH,
        )
        self._shift[key] = found.shift
        return found

    def _judged(self, made: Pruning | Refit, pruning: Pruning, decided: Decided | None = None) -> float:
        scores = self._judge_sample.leaves(pruning, made.forest).score
        return self.workshop.judge(made, self.judges, scores, decided)

    def scores_for(self, measure: Measure, budgets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Judge the prunings for many (descending) budgets, as they are."""
        path, forest, sample = self.path(measure), self.workshop.forest, self._judge_sample
        points = np.array([point_within(path, budget) for budget in budgets])
        size = max(1, MOST_SCORES // (sample.n_rows * forest.n_outputs))
        scores = []
        for some in np.split(points, np.arange(size, points.size, size)):
            until = np.searchsorted(path.lam[some], path.critical_lambda)
            sums = scores_along(
                sample.stop, forest.parent, until, some.size, forest.value, forest.tree_output, forest.base
            )
            for point, total in zip(some, sums, strict=True):
                made = path[int(point)]
                scores.append(self.workshop.judge(made, self.judges, total / forest.divisor))
        return np.array(scores)


def point_within(path: PruningPath, budget: float) -> int:
    """Number of the most expensive point of a path within a budget, or else of the cheapest one."""
    return first_within(path.cost, check_budget(budget))


def within(path: PruningPath, budget: float) -> Pruning:
    """Most expensive pruning of a path within a budget, or else the cheapest one."""
    return path[point_within(path, budget)]
