"""`fit_staged_model`: from rows and prices to chains of stages and the trade-off curve."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from budgetprune.costs import ROUNDING
from budgetprune.predictor import Residuals
from budgetprune.staged.curve.best_points import best_points
from budgetprune.staged.curve.consistency import has_expected_cost
from budgetprune.staged.curve.points import cross_fitted_points
from budgetprune.staged.curve.residuals import out_of_fold_residuals
from budgetprune.staged.fitting.assembly import assemble_chain
from budgetprune.staged.fitting.out_of_fold import with_objective
from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.fitting.training_extent import TrainingExtent, choose_training_extent
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import TreeSettings
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.ordering.acquired_sources import AcquiredSources
from budgetprune.staged.ordering.forward_selection import promising_columns
from budgetprune.staged.ordering.orders import propose_orders
from budgetprune.staged.ordering.stages import plan_stages
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.learner_choice import LearnerComparison, choose_learner
from budgetprune.staged.training.plan import StagePlan
from budgetprune.staged.training.settings import LAST_STAGE_FACTOR, choose_settings
from budgetprune.staged.training.trainer import CrossFitted, StageTrainer
from budgetprune.staged.training.trials import MOST_ROWS, TrialSplit, TrialTrainer

# Number of steps whose features are used to choose the settings of early stages.
N_FEW_SOURCES = 5
# Settings and orders of sources are chosen on the test rows of several folds if one has few, because choices
# on few rows are noisy: number of test rows that is enough, and maximum number of folds.
ENOUGH_TRIED, MOST_SPLITS = 2000, 3
# With a time limit: shares of the remaining time for the settings, and then for the orders of sources.
SETTINGS_TIME_SHARE, ORDERS_TIME_SHARE = 0.2, 0.3
# Share of the time for all training; the rest is for the trade-off curve.
TRAINING_TIME_SHARE = 0.9
# Minimum time of a further chain, as a share of the time of the one before.
SHORTEST_CHAIN = 0.2


@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of `fit_staged_model`.

    Attributes
    ----------
    chains : tuple of Chain
    trade_off : StagedTradeOff
    learner : Learner
        Learner of the stages.
    settings : tuple of TreeSettings
        Candidate settings of each stage.
    objective : Objective
        Loss that the stopping rules minimise.
    residuals : Residuals or None
        Regression only: residuals of out-of-fold predictions at each point of the curve.
    """

    chains: tuple[Chain, ...]
    trade_off: StagedTradeOff
    learner: Learner
    settings: tuple[TreeSettings, ...]
    objective: Objective
    residuals: Residuals | None


def fit_staged_model(spec: FitSpec) -> FitResult:
    """Order the sources, train the stages, and learn stopping rules."""
    with tqdm(desc="settings", disable=not spec.verbose) as bar:
        deadline = spec.deadline.share(TRAINING_TIME_SHARE)
        growth = _choose_learner_and_settings(spec, deadline, bar)
        bar.set_description("orders of sources")
        # Each class has its own trees, which takes time, and orders need many trials: use fewer rows.
        splits = _trial_splits(spec, int(MOST_ROWS / np.sqrt(spec.sample.n_outputs)))
        trials = TrialTrainer(
            spec.candidates.boosted,
            growth.few,
            splits,
            spec.n_jobs,
            deadline.share(ORDERS_TIME_SHARE),
            bar.update,
        )
        orders = propose_orders(trials, spec.limits)
        extent = choose_training_extent(spec, trials, orders, deadline.left())
        spec = replace(spec, folds=spec.folds[: extent.n_folds])
        tested = np.sort(np.concatenate([test for _, test in spec.folds]))
        spec_of_tested = spec.of_rows(tested)
        made = (plan_stages(spec.costs, order, extent.n_stages) for order in orders)
        plans = list({plan.sources: plan for plan in made}.values())
        bar.reset(sum(len(plan.sources) for plan in plans) * (len(spec.folds) + 1))
        bar.set_description("stages")
        chains: list[Chain] = []
        results: list[OutOfFoldResults] = []
        for trainer, found in _trained_chains(
            spec, plans, growth, extent, deadline, partial(_count_stage, bar)
        ):
            chain, out_of_fold = assemble_chain(spec_of_tested, found.of_rows(tested), trainer)
            chains.append(chain)
            results.append(out_of_fold)
    objective, curve = spec.objective, _curve(spec_of_tested, chains, results)
    if spec.fallback is not None and not curve.cost.any():
        fallback = replace(spec_of_tested, objective=spec.fallback)
        other = _curve(fallback, chains, [with_objective(fallback, each) for each in results], by_loss=True)
        if other.cost.any():
            objective, curve = spec.fallback, other
    residuals = None
    if spec.records_residuals:
        residuals = out_of_fold_residuals(curve, results, spec_of_tested.sample.target, spec.max_cost)
    return FitResult(tuple(chains), curve, growth.learner, growth.settings, objective, residuals)


@dataclass(frozen=True, eq=False)
class _LearnerChoice:
    """Learner and its candidate settings; `few` are the settings for few features."""

    learner: Learner
    settings: tuple[TreeSettings, ...]
    few: TreeSettings


def _choose_learner_and_settings(spec: FitSpec, deadline: Deadline, bar: Any) -> _LearnerChoice:
    acquired = AcquiredSources(spec.costs, spec.limits.offered_sources())
    boosted, columns = spec.candidates.boosted, acquired.offered_columns()
    trials = TrialTrainer(
        boosted,
        TreeSettings(),
        _trial_splits(spec, MOST_ROWS),
        spec.n_jobs,
        deadline.share(SETTINGS_TIME_SHARE),
        bar.update,
    )
    # Early stages have few features, for which other settings are best than for many.
    few = choose_settings(trials, promising_columns(trials, acquired, N_FEW_SOURCES))
    trials = replace(trials, settings=choose_settings(trials, columns))
    learner, settings = choose_learner(
        spec.candidates, LearnerComparison(trials, columns, spec.sample, spec.folds, spec.seed)
    )
    return _LearnerChoice(
        learner, tuple(dict.fromkeys([few, settings])) if learner is boosted else (settings,), few
    )


def _trained_chains(
    spec: FitSpec,
    plans: Sequence[StagePlan],
    growth: _LearnerChoice,
    extent: TrainingExtent,
    deadline: Deadline,
    on_progress: Callable[[], Any],
) -> Iterator[tuple[StageTrainer, CrossFitted]]:
    """Train chains as far as time allows.

    Trained in any case: the first, that of the requested budget, and the one with the cheapest first stage,
    so that the model serves small budgets as well.
    """
    prices = [_first_price(spec, plan) for plan in plans]
    wanted = next((i for i, price in enumerate(prices) if price <= spec.budget * ROUNDING), 0)
    required = {0, wanted, int(np.argmin(prices))}
    chosen = [i for i in range(len(plans)) if i in required or i < extent.n_chains]
    shortest = 0.0
    for number, i in enumerate(chosen):
        # A further chain takes some time, even with the minimum number of rounds.
        if i not in required and deadline.left() < shortest:
            continue
        plan = plans[i]
        began = time.monotonic()
        limit = deadline.share(1 / (len(chosen) - number))
        trainer = StageTrainer(
            growth.learner,
            growth.settings,
            spec.seed,
            spec.n_jobs,
            on_progress,
            limit,
            LAST_STAGE_FACTOR,
            extent.single_setting,
        )
        yield trainer, trainer.cross_fit(plan, spec.sample, spec.folds)
        shortest = SHORTEST_CHAIN * (time.monotonic() - began)


def _curve(
    spec: FitSpec, chains: Sequence[Chain], results: Sequence[OutOfFoldResults], *, by_loss: bool = False
) -> StagedTradeOff:
    """Learn stopping rules, and select those that are better than all cheaper ones."""
    points = cross_fitted_points(results, spec.folds, spec.score)
    rows = replace(spec.sample, weight=spec.row_weight)
    return best_points(
        points,
        has_expected_cost(points, chains, rows, spec.objective, spec.costs),
        by_loss=by_loss or spec.has_error_costs,
        in_unit_of_costs=spec.has_error_costs,
        keeps_full_point=spec.keeps_full_point,
    )


def _count_stage(bar: Any) -> None:
    """Advance the progress bar. With little time, the first fold is trained twice, exceeding the total."""
    bar.total = max(bar.total, bar.n + 1)
    bar.update()


def _first_price(spec: FitSpec, plan: StagePlan) -> float:
    """Return the price of the first stage that acquires sources."""
    return float(next((spec.costs.price[list(each)].sum() for each in plan.sources if each), np.inf))


def _trial_splits(spec: FitSpec, most: int) -> tuple[TrialSplit, ...]:
    """Train-test splits to choose settings and orders: from the first fold, or several if it has few rows."""
    n_tested = spec.folds[0][1].size * np.sqrt(spec.sample.n_outputs)
    n_splits = int(np.clip(ENOUGH_TRIED / n_tested, 1, MOST_SPLITS))
    return tuple(
        TrialSplit(spec.sample.take(train[:most]), spec.sample.take(test[:most]))
        for train, test in spec.folds[:n_splits]
    )
