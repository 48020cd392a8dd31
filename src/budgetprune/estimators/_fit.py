"""What `fit` does, once rows and parameters are known to be good: choose, prune, refit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from budgetprune.acquisition import sources_used
from budgetprune.errors import BudgetWarning
from budgetprune.estimators._choice import Choices, choose, measures, repairs, usual_repair
from budgetprune.estimators._roles import halves
from budgetprune.estimators._tradeoff import TradeOff, trade_off
from budgetprune.estimators._workshop import Fold, Measure, Repair, Workshop
from budgetprune.path import PruningPath
from budgetprune.pruning import Pruning
from budgetprune.refit import Refit, Sample, refit_pruning

# With fewer validation rows than this, halves of them can tell nothing apart.
FEWEST_ROWS = 20
# What is left of the gradient when leaves are refitted for good. Stopping here takes half the time of going
# on, and validation rows have chosen the ridge with refits that stop even earlier.
TOLERANCE = 3e-2
# Shares of the whole cost at which choices are compared if no budget is given.
SHARES = (0.2, 0.4, 0.7)


@dataclass(frozen=True)
class Wishes:
    """What the user has asked for; see `BudgetPruneClassifier`."""

    budget: float | None
    lam: float | None
    error: str
    loss: str | None
    refit: str | None
    ridge: Any
    solver: str
    verbose: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """What came of it."""

    path: PruningPath
    tradeoff: TradeOff
    choices: Choices
    pruning: Pruning
    refit: Refit | None


def fit_workshop(workshop: Workshop, wishes: Wishes, random: np.random.RandomState) -> Fitted:
    """Choose inside V, compute the path on all of V, pick the point, and refit its leaves on T and V."""
    candidates, spare = measures(workshop, wishes.error, wishes.loss)
    if len(candidates) == 1 and wishes.solver == "parametric":
        workshop.path(candidates[0], wishes.verbose)  # needed in the end, so trials may use it too
    ladders = repairs(workshop.forest, wishes.refit, wishes.ridge)
    by_class = workshop.forest.is_classifier
    folds: list[Fold] = []
    if len(workshop.val) >= FEWEST_ROWS:
        folds = [Fold(workshop, *half) for half in halves(workshop.val, random, by_class=by_class)]
    if not folds:
        candidates, ladders = candidates[:1], [[usual_repair(ladders[0])]]
        _warn_of_few_rows(workshop, wishes)
    n_trials = (len(candidates) if len(candidates) > 1 else 0) + sum(map(len, ladders))
    with tqdm(total=n_trials, desc="choosing", disable=not wishes.verbose) as bar:
        budgets = _budgets(workshop, wishes)

        def refit_budget(measure: Measure) -> float:
            if wishes.lam is None:
                return budgets[len(budgets) // 2]
            return workshop.path(measure).at(lam=wishes.lam).cost

        choices = choose(folds, candidates, spare, ladders, budgets, refit_budget, bar.update)
    measure, repair = Measure(choices.error, choices.loss), Repair(choices.refit, choices.ridge)
    path = _path(workshop, measure, wishes)
    tradeoff = trade_off(path, folds, measure, repair, wishes.verbose)
    pruning = pick(path, tradeoff, wishes.budget, wishes.lam)
    return Fitted(path, tradeoff, choices, pruning, refitted(pruning, repair, workshop.refit_sample))


def pick(path: PruningPath, tradeoff: TradeOff, budget: float | None, lam: float | None) -> Pruning:
    """The point of a path that was asked for, or else the one with the best cross-fitted score."""
    if budget is not None:
        return path.at(budget=budget)
    return path.at(lam=float(tradeoff.lam[tradeoff.best]) if lam is None else lam)


def refitted(pruning: Pruning, repair: Repair, sample: Sample) -> Refit | None:
    """Refit the leaves of a pruning on T and V, if that was chosen."""
    if repair.kind is None:
        return None
    return refit_pruning(pruning, sample, repair.kind, repair.ridge, tolerance=TOLERANCE)


def _path(workshop: Workshop, measure: Measure, wishes: Wishes) -> PruningPath:
    """All points; or only one, if a solver is wanted that knows no paths."""
    if wishes.solver == "parametric":
        return workshop.path(measure, wishes.verbose)
    assert wishes.lam is not None
    problem = workshop.problem(measure)
    keep = problem.solve(wishes.lam, solver=wishes.solver).keep
    critical = np.where(keep, np.nextafter(wishes.lam, np.inf), 0.0)
    return PruningPath.of(problem, critical, lams=[wishes.lam], complete=False)


def _budgets(workshop: Workshop, wishes: Wishes) -> list[float]:
    """Costs at which choices are compared."""
    if wishes.budget is not None and np.isfinite(wishes.budget):
        return [wishes.budget]
    used = sources_used(workshop.forest, workshop.prices, workshop.val.X)
    whole = float(np.average(workshop.prices.total(used), weights=workshop.val.weight))
    return [whole] if wishes.budget is not None else [share * whole for share in SHARES]


def _warn_of_few_rows(workshop: Workshop, wishes: Wishes) -> None:
    if "auto" in (wishes.error, wishes.refit, wishes.ridge) or wishes.budget is wishes.lam is None:
        warnings.warn(
            f"{len(workshop.val)} validation rows are too few to choose anything by (at least {FEWEST_ROWS} "
            "different ones, or two queries, are needed): of what was left open, the first error estimate, "
            "no refit and the usual ridge are taken, and no scores are known.",
            BudgetWarning,
            stacklevel=4,
        )
