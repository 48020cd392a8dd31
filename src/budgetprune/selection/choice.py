"""Choices by cross-fitting inside V: how errors are measured, how leaves are refitted, how early to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import HELD_OUT, IN_BAG, OUT_OF_BAG, POOLED, ErrorEstimate
from budgetprune.problem.node_losses import BRIER, MISCLASSIFICATION
from budgetprune.refit import Kind, kinds_for
from budgetprune.selection.context import Fold, Measure, Repair, Workshop

# Strengths of the ridge that are tried, from strong to weak: each refit starts at the last one's answer.
RIDGES = (256.0, 64.0, 16.0, 4.0, 1.0)
USUAL_RIDGE = 16.0
# Least squares in probability space hardly feels its ridge.
RIDGES_OF: dict[Kind, tuple[float, ...]] = {"squared": (USUAL_RIDGE,), "softmax": RIDGES[1:], "own": RIDGES}
# If the best measure spends less than this share of a budget, because its path jumps there, others are tried.
SPENDS_ENOUGH = 0.5
# Slacks that are tried, in this order: of equals, the one that is nearest to certainty is taken.
SLACKS = (0.1, 0.2, 0.3, 0.4)
# A ladder of ridges or slacks is left after this many rungs without a better score.
PATIENCE = 2


@dataclass(frozen=True)
class Trial:
    """One thing that was tried, at one average cost, and its cross-fitted score."""

    error: str
    loss: str | None
    refit: str | None
    ridge: float
    slack: float
    cost: float
    score: float


@dataclass(frozen=True)
class Choices:
    """What was chosen inside V, and everything that was tried on the way."""

    error: str
    loss: str | None
    refit: Kind | None
    ridge: float
    slack: float
    trials: tuple[Trial, ...] = field(default=(), repr=False)


# --- What there is to choose from ---------------------------------------------------------------------------


def measures(workshop: Workshop, error: str, loss: str | None) -> tuple[list[Measure], list[Measure]]:
    """List the ways to measure errors that are allowed and available: the main ones, and the spare ones."""
    if error != "auto":
        return [Measure(error, loss)], []
    forest = workshop.forest
    n_train = None if workshop.train is None else len(workshop.train)

    def available(*estimates: ErrorEstimate) -> list[ErrorEstimate]:
        return [each for each in estimates if each.is_available(forest, n_train)]

    if forest.is_boosted:
        return [Measure(each.name) for each in available(IN_BAG, HELD_OUT) or [IN_BAG]], []
    others = available(POOLED, OUT_OF_BAG) or [HELD_OUT]
    if not forest.is_classifier or loss is not None:
        return [Measure(each.name, loss) for each in (*available(IN_BAG), others[0])], []
    # In-bag, where most leaves are pure, both losses lead to nearly the same prunings. On other rows, the
    # Brier score tells more about a node than its label does.
    main = [Measure(each.name, MISCLASSIFICATION.name) for each in available(IN_BAG)]
    main.append(Measure(others[0].name, BRIER.name))
    return main, [Measure(each.name, MISCLASSIFICATION.name) for each in others]


def repairs(forest: Forest, refit: str | None, ridge: Any, slack: float) -> list[list[Repair]]:
    """List the ways to refit leaves that are allowed, one list for each kind, from strong to weak ridges."""
    if refit is None:
        return [[Repair(slack=slack)]]
    kinds = kinds_for(forest) if refit == "auto" else (cast(Kind, refit),)
    ladders = [
        [Repair(kind, strength, slack) for strength in (RIDGES_OF[kind] if ridge == "auto" else (ridge,))]
        for kind in kinds
    ]
    return [[Repair(slack=slack)], *ladders] if refit == "auto" else ladders


def usual_repair(ladder: Sequence[Repair]) -> Repair:
    """The rung of a ladder of ridges that is a good guess."""
    return min(ladder, key=lambda repair: abs(repair.ridge - USUAL_RIDGE))


# --- Choosing -----------------------------------------------------------------------------------------------


def choose(
    folds: Sequence[Fold],
    measures: Sequence[Measure],
    spare: Sequence[Measure],
    ladders: Sequence[Sequence[Repair]],
    slacks: Sequence[float],
    budgets: Sequence[float],
    refit_budget: Callable[[Measure], float],
    report: Callable[[], Any],
) -> Choices:
    """Choose one after the other: the measure with a usual refit, the refit with that measure, the slack.

    Parameters
    ----------
    folds : the halves of V, each judging what the other makes
    measures, ladders : what there is to choose from
    spare : measures for a budget that the others leave unspent
    slacks : what else the slack may be; the more of it, the larger the model that a budget pays for
    budgets : the costs at which measures are compared
    refit_budget : the cost at which refits are compared, which are what takes time
    report : called after each trial
    """
    trials: list[Trial] = []

    def score(measure: Measure, repair: Repair, costs: Sequence[float]) -> float:
        for cost in costs:
            mean = float(np.mean([fold.score(measure, repair, cost) for fold in folds]))
            if np.isnan(mean):
                raise InvalidInputError(
                    "the scorer gives NaN on one half of the validation rows (perhaps it needs all classes, "
                    "and one is rare); give more validation rows, or another scoring."
                )
            trials.append(
                Trial(measure.error, measure.loss, repair.kind, repair.ridge, repair.slack, cost, mean)
            )
        report()
        return float(np.mean([trial.score for trial in trials[-len(costs) :]]))

    measure = measures[0]
    if len(measures) > 1:
        reached = {each: score(each, usual_repair(ladders[-1]), budgets) for each in measures}
        measure = max(measures, key=reached.__getitem__)
        middle = budgets[len(budgets) // 2]
        if any(fold.spent(measure, middle) < SPENDS_ENOUGH * middle for fold in folds):
            reached |= {each: score(each, usual_repair(ladders[-1]), budgets) for each in spare}
            measure = max(reached, key=reached.__getitem__)
    best = ladders[0][0]
    if sum(map(len, ladders)) + len(slacks) > 1:
        best_score = -np.inf
        budget = [refit_budget(measure)]

        def climb(ladder: Iterable[Repair]) -> None:
            nonlocal best, best_score
            worse = 0
            for repair in ladder:
                result = score(measure, repair, budget)
                worse = 0 if result > best_score else worse + 1
                if result > best_score:
                    best, best_score = repair, result
                if worse == PATIENCE:
                    break

        for ladder in ladders:
            climb(ladder)
        climb([replace(best, slack=slack) for slack in slacks])
    return Choices(measure.error, measure.loss, best.kind, best.ridge, best.slack, tuple(trials))
