"""Choices by cross-fitting inside V: the measure of node errors, the refit of leaves, the slack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.refit import Kind
from budgetprune.selection.candidates import Candidates, Measure, RefitSpec
from budgetprune.selection.fold import Fold

# If the best measure spends less than this share of a budget, because its path jumps there, others are tried.
SPENDS_ENOUGH = 0.5
# Number of ridges or slacks in a row without a better score, after which the rest is not tried.
PATIENCE = 2


@dataclass(frozen=True)
class Trial:
    """One setting, tried at one average cost, and its cross-fitted score."""

    error: str
    loss: str | None
    refit: str | None
    ridge: float
    slack: float
    cost: float
    score: float


@dataclass(frozen=True)
class Choices:
    """Settings chosen inside V, with all trials."""

    error: str
    loss: str | None
    refit: Kind | None
    ridge: float
    slack: float
    trials: tuple[Trial, ...] = field(default=(), repr=False)

    @property
    def measure(self) -> Measure:
        """Measure of node errors."""
        return Measure(self.error, self.loss)

    @property
    def refit_spec(self) -> RefitSpec:
        """Refit of the leaves, and slack."""
        return RefitSpec(self.refit, self.ridge, self.slack)


def choose(
    folds: Sequence[Fold],
    candidates: Candidates,
    budgets: Sequence[float],
    refit_budget: Callable[[Measure], float],
    progress: Callable[[], Any],
) -> Choices:
    """Choose one setting after the other: the measure with a default refit, then the refit, then the slack.

    Parameters
    ----------
    folds : the folds of V
    candidates : the settings to choose from
        Slacks are compared at equal cost, where a larger slack allows a larger model.
    budgets : the costs at which measures are compared
    refit_budget : the cost at which refits are compared, for a measure; one, because refits take time
    progress : called after each trial
    """
    trials: list[Trial] = []

    def score(measure: Measure, refit: RefitSpec, costs: Sequence[float]) -> float:
        for cost in costs:
            mean = float(np.mean([fold.score(measure, refit, cost) for fold in folds]))
            if np.isnan(mean):
                raise InvalidInputError(
                    "the scorer gives NaN on one half of the validation rows (perhaps it needs all classes, "
                    "and one is rare); give more validation rows, or another scoring."
                )
            trials.append(
                Trial(measure.error, measure.loss, refit.kind, refit.ridge, refit.slack, cost, mean)
            )
        progress()
        return float(np.mean([trial.score for trial in trials[-len(costs) :]]))

    measure = candidates.measures[0]
    if len(candidates.measures) > 1:
        refit = candidates.default_refit
        reached = {each: score(each, refit, budgets) for each in candidates.measures}
        measure = max(reached, key=reached.__getitem__)
        middle = budgets[len(budgets) // 2]
        if any(fold.cost_within(measure, middle) < SPENDS_ENOUGH * middle for fold in folds):
            reached |= {each: score(each, refit, budgets) for each in candidates.fallback_measures}
            measure = max(reached, key=reached.__getitem__)
    best = candidates.refits[0][0]
    if candidates.n_refits + len(candidates.slacks) > 1:
        best_score = -np.inf
        budget = [refit_budget(measure)]

        def try_in_order(refits: Iterable[RefitSpec]) -> None:
            nonlocal best, best_score
            n_worse = 0
            for refit in refits:
                result = score(measure, refit, budget)
                n_worse = 0 if result > best_score else n_worse + 1
                if result > best_score:
                    best, best_score = refit, result
                if n_worse == PATIENCE:
                    break

        for refits in candidates.refits:
            try_in_order(refits)
        try_in_order([replace(best, slack=slack) for slack in candidates.slacks])
    return Choices(measure.error, measure.loss, best.kind, best.ridge, best.slack, tuple(trials))
