"""What `fit` does, once rows and parameters are known to be good: choose, prune, refit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from budgetprune.errors import BudgetWarning
from budgetprune.path import PruningPath
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection.choice import SLACKS, Choices, choose, measures, repairs, usual_repair
from budgetprune.selection.context import Fold, Measure, Repair, Workshop
from budgetprune.selection.decided_fold import DecidedFold
from budgetprune.selection.rows import Index, halves
from budgetprune.selection.settle import Settled, settle
from budgetprune.selection.stopping import Stopping
from budgetprune.selection.tradeoff import TradeOff, trade_off

# With fewer validation rows than this, halves of them can tell nothing apart.
FEWEST_ROWS = 20
# Rows that are simulated to know an average decided cost to a percent or two; all are where it counts.
ENOUGH_ROWS = 1000
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
    counting: str
    slack: Any
    threshold: float | None
    tolerance: float | None
    solver: str
    verbose: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """What came of it."""

    path: PruningPath
    tradeoff: TradeOff
    choices: Choices
    settled: Settled
    stopping: Stopping | None


def fit_workshop(workshop: Workshop, wishes: Wishes, random: np.random.RandomState) -> Fitted:
    """Choose inside V, compute the path on all of V, pick the point, and refit its leaves on T and V."""
    candidates, spare = measures(workshop, wishes.error, wishes.loss)
    if len(candidates) == 1 and wishes.solver == "parametric":
        workshop.path(candidates[0], wishes.verbose)  # needed in the end, so trials may use it too
    slacks = SLACKS if wishes.slack == "auto" else ()
    slack = 0.0 if wishes.slack == "auto" else wishes.slack
    ladders = repairs(workshop.forest, wishes.refit, wishes.ridge, slack)
    stopping = _stopping(workshop, wishes, random)
    folds = _folds(workshop, wishes, stopping, random)
    if not folds:
        candidates, ladders, slacks = candidates[:1], [[usual_repair(ladders[0])]], ()
        _warn_of_few_rows(workshop, wishes)
    n_trials = (len(candidates) if len(candidates) > 1 else 0) + sum(map(len, ladders)) + len(slacks)
    with tqdm(total=n_trials, desc="choosing", disable=not wishes.verbose) as bar:
        budgets = _budgets(workshop, wishes)

        def refit_budget(measure: Measure) -> float:
            if wishes.lam is None:
                return budgets[len(budgets) // 2]
            path = workshop.path(measure)
            if stopping is None:
                return path.at(lam=wishes.lam).cost
            point = int(np.searchsorted(path.lam, wishes.lam, side="right")) - 1
            return stopping.along(path, slack)[point]

        choices = choose(folds, candidates, spare, ladders, slacks, budgets, refit_budget, bar.update)
    measure = Measure(choices.error, choices.loss)
    repair = Repair(choices.refit, choices.ridge, choices.slack)
    path = _path(workshop, measure, wishes)
    tradeoff = trade_off(path, folds, measure, repair, stopping, wishes.verbose)
    settled = settle(
        path,
        tradeoff,
        repair,
        workshop.refit_sample,
        stopping,
        budget=wishes.budget,
        lam=wishes.lam,
    )
    return Fitted(path, tradeoff, choices, settled, stopping)


def _stopping(workshop: Workshop, wishes: Wishes, random: np.random.RandomState) -> Stopping | None:
    if wishes.counting == "full":
        return None
    val = workshop.val
    few = val.take(_few(len(val), random))
    return Stopping(workshop.prices, wishes.threshold, wishes.tolerance, val, few)


def _folds(
    workshop: Workshop, wishes: Wishes, stopping: Stopping | None, random: np.random.RandomState
) -> Sequence[Fold]:
    if len(workshop.val) < FEWEST_ROWS:
        return []
    parts = halves(workshop.val, random, by_class=workshop.forest.is_classifier)
    if stopping is None:
        return [Fold(workshop, makes, judges) for makes, judges in parts]
    return [
        DecidedFold(workshop, makes, judges, _few(judges.size, random), stopping, wishes.budget)
        for makes, judges in parts
    ]


def _few(n_rows: int, random: np.random.RandomState) -> Index:
    """Numbers of rows that are enough for an average cost."""
    return np.arange(n_rows) if n_rows <= ENOUGH_ROWS else np.sort(random.permutation(n_rows)[:ENOUGH_ROWS])


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
    """Costs at which choices are compared, of the kind that counts."""
    if wishes.budget is not None and np.isfinite(wishes.budget):
        return [wishes.budget]
    used = sources_used(workshop.forest, workshop.prices, workshop.val.X)
    whole = float(np.average(workshop.prices.total(used), weights=workshop.val.weight))
    return [whole] if wishes.budget is not None else [share * whole for share in SHARES]


def _warn_of_few_rows(workshop: Workshop, wishes: Wishes) -> None:
    if (
        "auto" in (wishes.error, wishes.refit, wishes.ridge, wishes.slack)
        or wishes.budget is wishes.lam is None
    ):
        warnings.warn(
            f"{len(workshop.val)} validation rows are too few to choose anything by (at least {FEWEST_ROWS} "
            "different ones, or two queries, are needed): of what was left open, the first error estimate, "
            "no refit, the usual ridge and no slack are taken, and no scores are known.",
            BudgetWarning,
            stacklevel=4,
        )
