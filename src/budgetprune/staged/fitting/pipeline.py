"""From rows and prices to chains of stages and the curve of what each budget buys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from budgetprune.costs import ROUNDING
from budgetprune.staged.curve.best_points import best_points
from budgetprune.staged.curve.consistency import costs_as_expected
from budgetprune.staged.curve.points import all_points
from budgetprune.staged.fitting.assembly import assemble_chain
from budgetprune.staged.fitting.evidence import with_objective
from budgetprune.staged.fitting.extent import Extent, choose_extent
from budgetprune.staged.fitting.work import Work
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import Settings
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.ordering.forward_selection import promising_columns
from budgetprune.staged.ordering.orders import propose_orders
from budgetprune.staged.ordering.sources import Shop
from budgetprune.staged.ordering.stages import plan_stages
from budgetprune.staged.stopping.evidence import Crossed
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.learner_choice import Comparison, choose_learner
from budgetprune.staged.training.plan import Plan
from budgetprune.staged.training.settings import LAST, choose_settings
from budgetprune.staged.training.trainer import CrossFitted, Trainer
from budgetprune.staged.training.trials import MOST_ROWS, Division, Trials

# Sources of a model by which the settings of early stages are chosen.
N_FEW = 5
# Settings and orders are tried on other rows, at least so many if there are, in so many divisions at most:
# one fold of few rows would choose by chance.
ENOUGH_TRIED, MOST_DIVISIONS = 2000, 3
# Shares of the time that is left, if it is limited: for the settings, then for the orders of sources.
FOR_SETTINGS, FOR_ORDERS = 0.2, 0.3
# Share of the time for all of the training; the rest is for the curve.
FOR_TRAINING = 0.9
# Time that a further chain takes at least, as a share of the time of the last one.
SHORTEST = 0.2


@dataclass(frozen=True, eq=False)
class Fitted:
    """What `fit_chains` found.

    Attributes
    ----------
    chains : tuple of Chain
    trade_off : StagedTradeOff
    learner : what has grown the stages
    settings : tuple of Settings
        That were tried for each stage.
    objective : Objective
        Of the stopping rules.
    """

    chains: tuple[Chain, ...]
    trade_off: StagedTradeOff
    learner: Learner
    settings: tuple[Settings, ...]
    objective: Objective


def fit_chains(work: Work) -> Fitted:
    """Order the sources, train the stages, and learn when to stop."""
    with tqdm(desc="settings", disable=not work.verbose) as bar:
        deadline = work.deadline.share(FOR_TRAINING)
        growth = _choose_growth(work, deadline, bar)
        bar.set_description("orders of sources")
        # Each class has trees of its own. That takes time, and orders need many trials.
        divisions = _divisions(work, int(MOST_ROWS / np.sqrt(work.sample.n_outputs)))
        trials = Trials(
            work.candidates.boosted,
            growth.few,
            divisions,
            work.n_jobs,
            deadline.share(FOR_ORDERS),
            bar.update,
        )
        orders = propose_orders(trials, work.limits)
        extent = choose_extent(work, trials, orders, deadline.left())
        work = replace(work, folds=work.folds[: extent.n_folds])
        tested = np.sort(np.concatenate([test for _, test in work.folds]))
        judged = work.of_rows(tested)
        made = (plan_stages(work.costs, order, extent.n_stages) for order in orders)
        plans = list({plan.sources: plan for plan in made}.values())
        bar.reset(sum(len(plan.sources) for plan in plans) * (len(work.folds) + 1))
        bar.set_description("stages")
        chains: list[Chain] = []
        crossed: list[Crossed] = []
        for trainer, found in _trained_chains(work, plans, growth, extent, deadline, partial(_tell, bar)):
            chain, seen = assemble_chain(judged, found.of_rows(tested), trainer)
            chains.append(chain)
            crossed.append(seen)
    objective, curve = work.objective, _curve(judged, chains, crossed)
    if work.fallback is not None and not curve.cost.any():
        fallen = replace(judged, objective=work.fallback)
        other = _curve(fallen, chains, [with_objective(fallen, each) for each in crossed], by_loss=True)
        if other.cost.any():
            objective, curve = work.fallback, other
    return Fitted(tuple(chains), curve, growth.learner, growth.settings, objective)


@dataclass(frozen=True, eq=False)
class _Growth:
    """How trees are grown: by what, and with which settings; `few` are those for few features."""

    learner: Learner
    settings: tuple[Settings, ...]
    few: Settings


def _choose_growth(work: Work, deadline: Deadline, bar: Any) -> _Growth:
    shop = Shop(work.costs, work.limits.offered_sources())
    boosted, columns = work.candidates.boosted, shop.offered_columns()
    trials = Trials(
        boosted,
        Settings(),
        _divisions(work, MOST_ROWS),
        work.n_jobs,
        deadline.share(FOR_SETTINGS),
        bar.update,
    )
    # Early stages have few features, which need other trees than many.
    few = choose_settings(trials, promising_columns(trials, shop, N_FEW))
    trials = replace(trials, settings=choose_settings(trials, columns))
    learner, settings = choose_learner(
        work.candidates, Comparison(trials, columns, work.sample, work.folds, work.seed)
    )
    return _Growth(learner, tuple(dict.fromkeys([few, settings])) if learner is boosted else (settings,), few)


def _trained_chains(
    work: Work,
    plans: Sequence[Plan],
    growth: _Growth,
    extent: Extent,
    deadline: Deadline,
    tell: Callable[[], Any],
) -> Iterator[tuple[Trainer, CrossFitted]]:
    """Train the chains that there is time for, and that of the budget even if the time is over."""
    wanted = next((plan for plan in plans if _first_price(work, plan) <= work.budget * ROUNDING), None)
    shortest = 0.0
    for i, plan in enumerate(plans):
        # One more chain takes some time, even if its rounds are as few as can be.
        is_extra = i >= extent.n_chains or deadline.left() < shortest
        if i and plan is not wanted and is_extra:
            continue
        began = time.monotonic()
        limit = deadline.share(1 / max(min(len(plans), extent.n_chains) - i, 1))
        trainer = Trainer(
            growth.learner, growth.settings, work.seed, work.n_jobs, tell, limit, LAST, extent.is_hurried
        )
        yield trainer, trainer.cross_fit(plan, work.sample, work.folds)
        shortest = SHORTEST * (time.monotonic() - began)


def _curve(
    work: Work, chains: Sequence[Chain], crossed: Sequence[Crossed], *, by_loss: bool = False
) -> StagedTradeOff:
    """Learn stopping rules, and choose those that are better than all cheaper ones."""
    points = all_points(crossed, work.folds, work.score)
    rows = replace(work.sample, weight=work.row_weight)
    return best_points(
        points,
        costs_as_expected(points, chains, rows, work.objective, work.costs),
        by_loss=by_loss or work.has_error_costs,
        in_unit_of_costs=work.has_error_costs,
        keeps_everything=work.keeps_everything,
    )


def _tell(bar: Any) -> None:
    """Count a stage. If there is no time for all rounds, the first fold is trained twice."""
    bar.total = max(bar.total, bar.n + 1)
    bar.update()


def _first_price(work: Work, plan: Plan) -> float:
    """Return the price of the first stage that buys something."""
    return float(next((work.costs.price[list(each)].sum() for each in plan.sources if each), np.inf))


def _divisions(work: Work, most: int) -> tuple[Division, ...]:
    """Rows on which settings and orders are tried: some of the first fold, or of several if they are few."""
    n_tested = work.folds[0][1].size * np.sqrt(work.sample.n_outputs)
    n_divisions = int(np.clip(ENOUGH_TRIED / n_tested, 1, MOST_DIVISIONS))
    return tuple(
        Division(work.sample.take(train[:most]), work.sample.take(test[:most]))
        for train, test in work.folds[:n_divisions]
    )
