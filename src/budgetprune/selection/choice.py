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

    @classmethod
    def of(cls, measure: Measure, refit: RefitSpec, trials: Trials) -> Choices:
        """Combine the choice of a measure and the choice of a refit."""
        return cls(measure.error, measure.loss, refit.kind, refit.ridge, refit.slack, tuple(trials.results))

    @property
    def measure(self) -> Measure:
        """Measure of node errors."""
        return Measure(self.error, self.loss)

    @property
    def refit_spec(self) -> RefitSpec:
        """Refit of the leaves, and slack."""
        return RefitSpec(self.refit, self.ridge, self.slack)


class Trials:
    """Cross-fitted scores of settings, in the order in which they were tried.

    Parameters
    ----------
    folds : the folds of V
    progress : called after each setting
    """

    def __init__(self, folds: Sequence[Fold], progress: Callable[[], Any]) -> None:
        self.folds = folds
        self.results: list[Trial] = []
        self._progress = progress

    def score(self, measure: Measure, refit: RefitSpec, costs: Sequence[float]) -> float:
        """Try a setting at several average costs, and return its mean score."""
        scores = []
        for cost in costs:
            score = float(np.mean([fold.score(measure, refit, cost) for fold in self.folds]))
            if np.isnan(score):
                raise InvalidInputError(
                    "the scorer gives NaN on one half of the validation rows (perhaps it needs all classes, "
                    "and one is rare); give more validation rows, or another scoring."
                )
            settings = (measure.error, measure.loss, refit.kind, refit.ridge, refit.slack)
            self.results.append(Trial(*settings, cost, score))
            scores.append(score)
        self._progress()
        return float(np.mean(scores))


def rank_measures(trials: Trials, candidates: Candidates, budgets: Sequence[float]) -> list[Measure]:
    """Order measures of node errors by their mean scores at several budgets, with a default refit.

    The best measure is first. Measures that were not tried are left out.
    """
    if len(candidates.measures) == 1:
        return list(candidates.measures)
    refit = candidates.default_refit
    scores = {each: trials.score(each, refit, budgets) for each in candidates.measures}
    best = max(scores, key=scores.__getitem__)
    middle = budgets[len(budgets) // 2]
    if any(fold.cost_within(best, middle) < SPENDS_ENOUGH * middle for fold in trials.folds):
        scores |= {each: trials.score(each, refit, budgets) for each in candidates.fallback_measures}
    return sorted(scores, key=scores.__getitem__, reverse=True)


def choose_refit(trials: Trials, candidates: Candidates, measure: Measure, budget: float) -> RefitSpec:
    """Choose the refit by its score at one budget (refits take time), and then the slack in the same way.

    Slacks are compared at equal cost, where a larger slack allows a larger model.
    """
    best, best_score = candidates.refits[0][0], -np.inf

    def try_in_order(refits: Iterable[RefitSpec]) -> None:
        nonlocal best, best_score
        n_worse = 0
        for refit in refits:
            score = trials.score(measure, refit, [budget])
            n_worse = 0 if score > best_score else n_worse + 1
            if score > best_score:
                best, best_score = refit, score
            if n_worse == PATIENCE:
                break

    for refits in candidates.refits:
        try_in_order(refits)
    try_in_order([replace(best, slack=slack) for slack in candidates.slacks])
    return best
