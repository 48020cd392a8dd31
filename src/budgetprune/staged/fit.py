"""From rows and prices to chains of stages and the curve of what each budget buys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.forest import Forest
from budgetprune.staged.calibration import best_scale
from budgetprune.staged.chain import Chain, Stage, link_of, probabilities
from budgetprune.staged.choice import Comparison, choose_learner
from budgetprune.staged.deadline import Deadline
from budgetprune.staged.extent import Extent, choose_extent, plan_stages
from budgetprune.staged.forest import log_odds
from budgetprune.staged.learner import Learner, Task
from budgetprune.staged.objective import Objective
from budgetprune.staged.order import (
    MOST_ROWS,
    Division,
    Shop,
    Trials,
    promising_columns,
)
from budgetprune.staged.orders import propose_orders
from budgetprune.staged.points import Crossed, StagedTradeOff, all_points, best_points
from budgetprune.staged.recheck import costs_as_expected
from budgetprune.staged.sample import Settings, Validation, mean_loss
from budgetprune.staged.settings import LAST, choose_settings
from budgetprune.staged.stopping import Evidence
from budgetprune.staged.training import CrossFitted, Plan, Trainer
from budgetprune.staged.work import Work

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
# Losses of few rows are noisy. They are mixed with what the best stage expects them to be, which counts as
# much as this many rows.
SOFT_ROWS = 1000


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
        orders = propose_orders(trials, work, _offered(work))
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
            chain, seen = _assemble(judged, found.of_rows(tested), trainer)
            chains.append(chain)
            crossed.append(seen)
    objective, curve = work.objective, _curve(judged, chains, crossed)
    if work.fallback is not None and not curve.cost.any():
        fallen = replace(judged, objective=work.fallback)
        other = _curve(fallen, chains, [_with_objective(fallen, each) for each in crossed], by_loss=True)
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
    shop = Shop(work.costs, _offered(work))
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


def _offered(work: Work) -> NDArray[np.bool_]:
    """Find the sources of the features that fit into the limit of each row."""
    return work.costs.needed_by(np.flatnonzero(work.costs.price_alone <= work.max_cost * ROUNDING))


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


def _assemble(work: Work, found: CrossFitted, trainer: Trainer) -> tuple[Chain, Crossed]:
    """Calibrate the stages, and collect what cross-fitting saw."""
    sample, shop = work.sample, Shop(work.costs)
    link = link_of(found.forests[0])
    stages, outputs, losses = [], [], []
    for k, sources in enumerate(_needed_sources(work.costs, found.forests)):
        stage = Stage(sources, replace(found.forests[k], classes=work.classes))
        scores = found.scores[k]
        if not stage.forest.n_splits and k == 0:
            # All rows are told the same. Folds must not differ in it: a rule could tell them apart.
            scores = np.tile(stage.forest.base, (len(sample), 1))
            scores = log_odds(scores) if link == "shares" else scores
        if link == "identity":
            # Not all features of the plan: what no tree tests is not bought.
            shop.has[list(sources)] = True
            stage, seen = _with_spread(work, stage, shop.columns(), scores, trainer)
        else:
            stage = replace(stage, scale=best_scale(sample, scores))
            seen = probabilities(scores * stage.scale, "logistic" if sample.kind == "binary" else "softmax")
        stages.append(stage)
        outputs.append(seen)
        losses.append(mean_loss(sample, scores * stage.scale))
    price = np.array([work.costs.price[list(stage.sources)].sum() for stage in stages])
    # By the loss of training, which is less noisy than errors are.
    best = int(np.argmin(losses))
    return Chain(tuple(stages), trainer.learner.decay, link), _crossed(work, outputs, price, best)


def _crossed(
    work: Work, outputs: Sequence[NDArray[np.float64]], price: NDArray[np.float64], best: int
) -> Crossed:
    """Collect what the stages said about rows that they were not trained on."""
    objective, weight = work.objective, _loss_weight(work)
    loss = weight * np.column_stack([objective.loss(each, work.sample.target) for each in outputs])
    evidence = Evidence(
        np.column_stack([objective.uncertainty(each) for each in outputs]),
        _smoothed(loss, weight, outputs, objective, best),
        price,
        work.row_weight,
    )
    return Crossed(evidence, loss, outputs, best)


def _with_objective(work: Work, crossed: Crossed) -> Crossed:
    """The same outputs, as another objective sees them."""
    return _crossed(work, crossed.outputs, crossed.evidence.price, crossed.best)


def _needed_sources(costs: CostTable, forests: Sequence[Forest]) -> list[tuple[int, ...]]:
    """List the sources that each stage needs and those before do not; some of a plan may be of no use."""
    has = costs.price == 0
    found = []
    for forest in forests:
        needed = costs.needed_by(forest.feature[forest.is_split])
        found.append(tuple(np.flatnonzero(needed & ~has).tolist()))
        has |= needed
    return found


def _loss_weight(work: Work) -> NDArray[np.float64]:
    """By how much the errors of each row count because of its class, 1 on average; of shape (n_rows, 1)."""
    if work.sample.weight is None:
        return np.ones((len(work.sample), 1))
    weight = work.sample.weight / work.row_weight
    return np.asarray(weight[:, np.newaxis] / np.average(weight, weights=work.row_weight))


def _smoothed(
    loss: NDArray[np.float64],
    weight: NDArray[np.float64],
    outputs: Sequence[NDArray[np.float64]],
    objective: Objective,
    best: int,
) -> NDArray[np.float64]:
    """Mix losses by the labels with losses that the best stage expects."""
    soft = weight * np.column_stack([objective.soft_loss(each, outputs[best]) for each in outputs])
    share = SOFT_ROWS / (SOFT_ROWS + len(loss))
    return (1 - share) * loss + share * soft


def _with_spread(
    work: Work, stage: Stage, columns: NDArray[np.intp], scores: NDArray[np.float64], trainer: Trainer
) -> tuple[Stage, NDArray[np.float64]]:
    """Learn the expected squared error of a stage from the errors on rows that it was not trained on."""
    sample, learner, settings = work.sample, trainer.learner, trainer.settings[0]
    error = (sample.target - scores[:, 0]) ** 2
    least = max(1e-6 * float(error.mean()), np.finfo(np.float64).tiny)
    squares = replace(sample, target=np.maximum(error, least), kind="positive")
    simple = replace(settings, n_leaves=8, most_rounds=60, least_rows=max(settings.least_rows, 20))
    if not columns.size:
        # All rows are told the same, in all folds.
        constant = learner.grow(Task(squares, columns, None, None, simple))
        outputs = np.column_stack([scores[:, 0], np.exp(constant.scores(sample.rows)[:, 0])])
        return replace(stage, spread=constant.forest()), outputs
    seen = np.empty(len(sample))
    n_rounds = 0
    for i, (train, test) in enumerate(work.folds):
        task = Task(
            squares.take(train),
            columns,
            None,
            n_rounds if i else None,
            simple,
            validation=Validation(squares.take(test), None),
            n_threads=work.n_jobs,
            is_over=work.deadline.is_over,
        )
        grown = learner.grow(task)
        n_rounds = max(grown.n_rounds, 1)
        seen[test] = grown.scores(sample.rows[test])[:, 0]
    final = learner.grow(Task(squares, columns, None, n_rounds, simple, n_threads=work.n_jobs))
    outputs = np.column_stack([scores[:, 0], np.exp(seen)])
    return replace(stage, spread=final.forest()), outputs
