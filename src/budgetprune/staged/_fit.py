"""From rows and prices to chains of stages and the curve of what each budget buys."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from tqdm import tqdm

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.forest import Forest
from budgetprune.staged._chain import Chain, Link, Stage, probabilities
from budgetprune.staged._learner import Learner, Task
from budgetprune.staged._objective import Objective
from budgetprune.staged._order import MOST_ROWS, Shop, Step, Trials, join_steps, order_sources
from budgetprune.staged._points import Crossed, Score, StagedTradeOff, trade_off
from budgetprune.staged._sample import Sample, Settings, Validation, mean_loss
from budgetprune.staged._settings import LAST, choose_settings
from budgetprune.staged._stopping import Evidence
from budgetprune.staged._training import CrossFitted, Fold, Plan, Trainer

MOST_STAGES = 20
# Exponents of prices in the order of sources, tried if prices differ: what a source saves per unit of price,
# and one with which cheap sources come first, for small budgets.
EXPONENTS = (1.0, 2.0)
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
    settings : Settings
    """

    chains: tuple[Chain, ...]
    trade_off: StagedTradeOff
    settings: Settings


class Deadline:
    """A limit of time; None: none."""

    def __init__(self, seconds: float | None) -> None:
        self._end = np.inf if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end


@dataclass(frozen=True, eq=False)
class Work:
    """What is given to `fit_chains`.

    Attributes
    ----------
    sample : Sample
    classes : what they are called, or None
    costs : CostTable
    folds : of cross-fitting
    objective : Objective
    score : of cross-fitted outputs
    learner : Learner
    max_cost : what a row may cost, at most
    keeps_everything : whether the point at which all rows buy everything is on the curve in any case
    deadline : Deadline
    seed, n_jobs : int
    verbose : bool
    """

    sample: Sample
    classes: NDArray[Any] | None
    costs: CostTable
    folds: Sequence[Fold]
    objective: Objective
    score: Score
    learner: Learner
    max_cost: float
    keeps_everything: bool
    deadline: Deadline
    seed: int
    n_jobs: int
    verbose: bool


def fit_chains(work: Work) -> Fitted:
    """Order the sources, train the stages, and learn when to stop."""
    is_offered = work.costs.price <= work.max_cost
    shop = Shop(work.costs, is_offered)
    train, test = _few_rows(work)
    settings = choose_settings(work.learner, train, test, shop, work.n_jobs, work.deadline.is_over)
    trials = Trials(work.learner, settings, train, test, work.n_jobs, work.deadline.is_over)
    orders = [
        order_sources(trials, Shop(work.costs, is_offered), exponent)
        for exponent in _exponents(work.costs.price[is_offered])
    ]
    orders += _cheaper_orders(trials, work, orders)
    made = (_plan(work, within(order, work.max_cost)) for order in orders)
    plans = list({plan.sources: plan for plan in made}.values())
    chains: list[Chain] = []
    crossed: list[Crossed] = []
    n_steps = sum(len(plan.sources) for plan in plans) * (len(work.folds) + 1)
    with tqdm(total=n_steps, desc="stages", disable=not work.verbose) as bar:
        for plan in plans:
            if chains and work.deadline.is_over():
                break
            trainer = Trainer(
                work.learner, settings, work.seed, work.n_jobs, bar.update, work.deadline.is_over, LAST
            )
            found = trainer.cross_fit(plan, work.sample, work.folds)
            chain, seen = _assemble(work, found, settings)
            chains.append(chain)
            crossed.append(seen)
    curve = trade_off(crossed, work.folds, work.score, keeps_everything=work.keeps_everything)
    return Fitted(tuple(chains), curve, settings)


def _cheaper_orders(trials: Trials, work: Work, orders: list[list[Step]]) -> list[list[Step]]:
    """Order the sources that are cheaper than what all others begin with, for budgets below that."""
    first = min((order[0].price for order in orders if order), default=0.0)
    is_cheaper = (work.costs.price < first) & (work.costs.price <= work.max_cost)
    shop = Shop(work.costs, is_cheaper)
    if not any(step.price < first for step in shop.steps()):
        return []
    order = order_sources(trials, shop, EXPONENTS[-1])
    return [order] if order and order[0].price < first else []


def within(order: list[Step], max_cost: float) -> list[Step]:
    """Leave out the steps that do not fit into a limit any more, once those before are bought."""
    kept, cost = [], 0.0
    for step in order:
        if cost + step.price <= max_cost * ROUNDING:
            kept.append(step)
            cost += step.price
    return kept


def _few_rows(work: Work) -> tuple[Sample, Sample]:
    """Rows on which settings and orders are tried: those of the first fold, or some of them."""
    train, test = work.folds[0]
    return work.sample.take(train[:MOST_ROWS]), work.sample.take(test[:MOST_ROWS])


def _exponents(price: NDArray[np.float64]) -> tuple[float, ...]:
    paid = price[price > 0]
    return EXPONENTS if paid.size and paid.max() > 1.01 * paid.min() else EXPONENTS[:1]


def _plan(work: Work, order: list[Step]) -> Plan:
    shop = Shop(work.costs)
    sources = [(), *join_steps(order, MOST_STAGES)]
    columns = []
    for each in sources:
        shop.has[list(each)] = True
        columns.append(shop.columns())
    return Plan(tuple(sources), tuple(columns))


def _assemble(work: Work, found: CrossFitted, settings: Settings) -> tuple[Chain, Crossed]:
    """Calibrate the stages, and collect what cross-fitting saw."""
    sample, objective, shop = work.sample, work.objective, Shop(work.costs)
    link: Link = {"binary": "logistic", "multiclass": "softmax"}.get(sample.kind, "identity")  # type: ignore[assignment]
    stages, outputs, losses = [], [], []
    for k, sources in enumerate(_needed_sources(work.costs, found.forests)):
        stage = Stage(sources, replace(found.forests[k], classes=work.classes))
        scores = found.scores[k]
        if not stage.forest.n_splits and k == 0:
            # All rows are told the same. Folds must not differ in it: a rule could tell them apart.
            scores = np.tile(stage.forest.base, (len(sample), 1))
        if link == "identity":
            # Not all features of the plan: what no tree tests is not bought.
            shop.has[list(sources)] = True
            stage, seen = _with_spread(work, stage, shop.columns(), scores, settings)
        else:
            stage = replace(stage, scale=_calibration(sample, scores))
            seen = probabilities(scores * stage.scale, link)
        stages.append(stage)
        outputs.append(seen)
        losses.append(mean_loss(sample, scores * stage.scale))
    # By the loss of training, which is less noisy than errors are.
    best = int(np.argmin(losses))
    price = np.array([work.costs.price[list(stage.sources)].sum() for stage in stages])
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    loss = np.column_stack([objective.loss(each, sample.target) for each in outputs])
    evidence = Evidence(
        np.column_stack([objective.uncertainty(each) for each in outputs]),
        _smoothed(loss, outputs, objective, best),
        price,
        weight,
    )
    return Chain(tuple(stages), work.learner.decay, link), Crossed(evidence, loss, outputs)


def _needed_sources(costs: CostTable, forests: Sequence[Forest]) -> list[tuple[int, ...]]:
    """List the sources that each stage needs and those before do not; some of a plan may be of no use."""
    has = costs.price == 0
    found = []
    for forest in forests:
        needed = costs.needed_by(forest.feature[forest.is_split])
        found.append(tuple(np.flatnonzero(needed & ~has).tolist()))
        has |= needed
    return found


def _smoothed(
    loss: NDArray[np.float64], outputs: Sequence[NDArray[np.float64]], objective: Objective, best: int
) -> NDArray[np.float64]:
    """Mix losses by the labels with losses that the best stage expects."""
    soft = np.column_stack([objective.soft_loss(each, outputs[best]) for each in outputs])
    share = SOFT_ROWS / (SOFT_ROWS + len(loss))
    return (1 - share) * loss + share * soft


def _calibration(sample: Sample, scores: NDArray[np.float64]) -> float:
    """Find the factor of the scores with which probabilities fit rows best that were not trained on."""
    found = minimize_scalar(
        lambda log_scale: mean_loss(sample, np.exp(log_scale) * scores), bounds=(-2, 1), method="bounded"
    )
    return float(np.exp(found.x))


def _with_spread(
    work: Work, stage: Stage, columns: NDArray[np.intp], scores: NDArray[np.float64], settings: Settings
) -> tuple[Stage, NDArray[np.float64]]:
    """Learn the expected squared error of a stage from the errors on rows that it was not trained on."""
    sample = work.sample
    error = (sample.target - scores[:, 0]) ** 2
    least = max(1e-6 * float(error.mean()), np.finfo(np.float64).tiny)
    squares = replace(sample, target=np.maximum(error, least), kind="positive")
    simple = replace(settings, n_leaves=8, most_rounds=60, least_rows=max(settings.least_rows, 20))
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
        grown = work.learner.grow(task)
        n_rounds = max(grown.n_rounds, 1)
        seen[test] = grown.scores(sample.rows[test])[:, 0]
    final = work.learner.grow(Task(squares, columns, None, n_rounds, simple, n_threads=work.n_jobs))
    outputs = np.column_stack([scores[:, 0], np.exp(seen)])
    return replace(stage, spread=final.forest()), outputs
