"""Choices by cross-fitting inside V: how errors are measured, and how leaves are refitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.estimators._judge import Judge, scores_along
from budgetprune.estimators._roles import Index, LabelledRows
from budgetprune.forest import Forest
from budgetprune.path import ROUNDING, PruningPath
from budgetprune.problem import PruningProblem
from budgetprune.pruning import Pruning
from budgetprune.refit import Kind, Refit, Sample, kinds_for, refit_pruning

# Strengths of the ridge that are tried, from strong to weak: each refit starts at the last one's answer.
RIDGES = (256.0, 64.0, 16.0, 4.0, 1.0)
USUAL_RIDGE = 16.0
# Least squares in probability space hardly feels its ridge.
RIDGES_OF: dict[Kind, tuple[float, ...]] = {"squared": (USUAL_RIDGE,), "softmax": RIDGES[1:], "own": RIDGES}
# While choosing, refits may be this rough: differences in score are larger.
ROUGH = 0.1
# Paths are computed to this share of the whole cost while choosing.
RESOLUTION = 1 / 50
# A ladder of ridges is left after this many rungs without a better score.
PATIENCE = 2
# Memory for the scores of many points at once, in numbers.
MOST_SCORES = 2**25


@dataclass(frozen=True)
class Measure:
    """How errors of nodes are measured: `error` and `loss` of a `PruningProblem`."""

    error: Any
    loss: Any = None


@dataclass(frozen=True)
class Repair:
    """How leaves are refitted: a kind and its ridge, or not at all."""

    kind: Kind | None = None
    ridge: float = np.nan


@dataclass(frozen=True)
class Trial:
    """One thing that was tried, at one average cost, and its cross-fitted score."""

    error: str
    loss: str | None
    refit: str | None
    ridge: float
    cost: float
    score: float


@dataclass(frozen=True)
class Choices:
    """What was chosen inside V, and everything that was tried on the way."""

    error: str
    loss: str | None
    refit: Kind | None
    ridge: float
    trials: tuple[Trial, ...] = field(default=(), repr=False)


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
    def refit_sample(self) -> Sample:
        """T and V, to refit the leaves on once everything is chosen."""
        return self.val_sample if self.train_sample is None else self.train_sample + self.val_sample

    def trial_sample(self, val_rows: Index) -> Sample:
        """T and some rows of V, to try refits on."""
        val = self.val_sample.take(val_rows)
        return val if self.train_sample is None else self.train_sample + val


class Fold:
    """One half of V makes prunings and refits leaves (together with T), the other half judges them."""

    def __init__(self, workshop: Workshop, makes: Index, judges: Index) -> None:
        self.workshop = workshop
        self._makes = workshop.val.take(makes)
        self._judges = workshop.val.take(judges)
        self._judge_sample = workshop.val_sample.take(judges)
        self._refit_sample = workshop.trial_sample(makes)
        self.path = cache(self._path)
        self._near = cache(self._path_near)
        self._shift: dict[tuple[Measure, float, Kind], NDArray[np.float64]] = {}

    def _path(self, measure: Measure) -> PruningPath:
        problem = self.workshop.problem(measure, self._makes)
        return problem.path(resolution=RESOLUTION * problem.cost_of(problem.unpruned) or None)

    def _path_near(self, measure: Measure, budget: float) -> PruningPath:
        return self.workshop.problem(measure, self._makes).path(budgets=[budget])

    def score(
        self, measure: Measure, repair: Repair, budget: float, path: PruningPath | None = None
    ) -> float:
        """Judge the pruning for a budget (from a path, if it is at hand), with refitted leaves or without."""
        pruning = within(path or self._near(measure, budget), budget)
        if repair.kind is None:
            return self._judged(pruning, pruning)
        key = measure, budget, repair.kind
        found = refit_pruning(
            pruning,
            self._refit_sample,
            repair.kind,
            repair.ridge,
            start=self._shift.get(key),
            tolerance=ROUGH,
        )
        self._shift[key] = found.shift
        return self._judged(found, pruning)

    def _judged(self, made: Pruning | Refit, pruning: Pruning) -> float:
        scores = self._judge_sample.leaves(pruning, made.forest).score
        return self.workshop.judge(made, self._judges, scores)

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
                scores.append(self.workshop.judge(made, self._judges, total / forest.divisor))
        return np.array(scores)


def point_within(path: PruningPath, budget: float) -> int:
    """Number of the most expensive point of a path within a budget, or else of the cheapest one."""
    within_budget = np.flatnonzero(path.cost <= budget * (1 + ROUNDING))
    return int(within_budget[0]) if within_budget.size else len(path) - 1


def within(path: PruningPath, budget: float) -> Pruning:
    """Most expensive pruning of a path within a budget, or else the cheapest one."""
    return path[point_within(path, budget)]


# --- What there is to choose from ---------------------------------------------------------------------------


def measures(workshop: Workshop, error: str, loss: str | None) -> list[Measure]:
    """List the ways to measure errors that are allowed and possible."""
    forest, has_train = workshop.forest, workshop.train is not None
    if error != "auto":
        return [Measure(error, loss)]
    if forest.is_boosted:
        has_recorded = forest.split_gain is not None
        estimates = ["in-bag"] if has_recorded or (has_train and forest.loss is not None) else []
        estimates += ["held-out"] if forest.loss is not None else []
        return [Measure(estimate) for estimate in estimates or ["in-bag"]]
    remembers = forest.class_weight is not None if forest.is_classifier else forest.variance is not None
    estimates = ["in-bag"] if remembers or has_train else []
    estimates.append("pooled" if has_train and _has_out_of_bag_rows(workshop) else "held-out")
    if not forest.is_classifier or loss is not None:
        return [Measure(estimate, loss) for estimate in estimates]
    # In-bag, where trees know all answers, both losses lead to nearly the same prunings; on other rows, the
    # Brier score tells more about a node than its label does.
    return [Measure(each, "misclassification" if each == "in-bag" else "brier") for each in estimates]


def _has_out_of_bag_rows(workshop: Workshop) -> bool:
    assert workshop.train is not None
    counts = workshop.forest.in_bag_counts(len(workshop.train))
    return bool((counts == 0).any(axis=1).all())


def repairs(forest: Forest, refit: str | None, ridge: Any) -> list[list[Repair]]:
    """List the ways to refit leaves that are allowed, one list for each kind, from strong to weak ridges."""
    if refit is None:
        return [[Repair()]]
    kinds = kinds_for(forest) if refit == "auto" else (cast(Kind, refit),)
    ladders = [
        [Repair(kind, strength) for strength in (RIDGES_OF[kind] if ridge == "auto" else (ridge,))]
        for kind in kinds
    ]
    return [[Repair()], *ladders] if refit == "auto" else ladders


def usual_repair(ladder: Sequence[Repair]) -> Repair:
    """The rung of a ladder of ridges that is a good guess."""
    return min(ladder, key=lambda repair: abs(repair.ridge - USUAL_RIDGE))


# --- Choosing -----------------------------------------------------------------------------------------------


def choose(
    folds: Sequence[Fold],
    measures: Sequence[Measure],
    ladders: Sequence[Sequence[Repair]],
    budgets: Sequence[float],
    report: Callable[[], Any],
) -> Choices:
    """Choose one thing after the other: the measure with a usual refit, then the refit with that measure.

    Parameters
    ----------
    folds : the halves of V, each judging what the other makes
    measures, ladders : what there is to choose from
    budgets : the costs at which choices are compared
    report : called after each trial
    """
    trials: list[Trial] = []

    def score(measure: Measure, repair: Repair, costs: Sequence[float]) -> float:
        for cost in costs:
            mean = float(np.mean([fold.score(measure, repair, cost) for fold in folds]))
            trials.append(Trial(measure.error, measure.loss, repair.kind, repair.ridge, cost, mean))
        report()
        return float(np.mean([trial.score for trial in trials[-len(costs) :]]))

    if len(measures) == 1:
        measure = measures[0]
    else:
        results = [score(measure, usual_repair(ladders[-1]), budgets) for measure in measures]
        measure = measures[int(np.argmax(results))]
    if sum(map(len, ladders)) == 1:
        best = ladders[0][0]
    else:
        # One budget is enough to compare refits, and they are what takes time.
        middle = [budgets[len(budgets) // 2]]
        best, best_score = Repair(), -np.inf
        for ladder in ladders:
            worse = 0
            for repair in ladder:
                reached = score(measure, repair, middle)
                worse = 0 if reached > best_score else worse + 1
                if reached > best_score:
                    best, best_score = repair, reached
                if worse == PATIENCE:
                    break
    return Choices(measure.error, measure.loss, best.kind, best.ridge, tuple(trials))
