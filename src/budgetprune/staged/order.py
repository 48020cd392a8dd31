"""In which order sources are bought: forward selection by what they save per unit of price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged.deadline import Deadline
from budgetprune.staged.learner import Learner, Task
from budgetprune.staged.sample import Grown, Sample, Scores, Settings, mean_loss
from budgetprune.utils.threads import map_in_threads

# Steps that are chosen by trial; the rest is ordered by the gains of one model. Later stages are reached by
# few rows and have several sources, so that their order matters little.
N_TRIED_STEPS = 14
# Candidates that are tried for a step, and rounds of a trial. Gains of correlated features are shared between
# them, so that the first step needs more candidates.
N_CANDIDATES, N_FIRST_CANDIDATES, N_ROUNDS = 8, 40, 30
# Rounds of the model whose gains propose the candidates.
N_GAIN_ROUNDS = 12
# More rows change the order little.
MOST_ROWS = 30_000


@dataclass(frozen=True)
class Step:
    """Sources that are bought together, because a feature needs them all.

    Attributes
    ----------
    sources : numbers of the sources
    price : of all of them
    """

    sources: tuple[int, ...]
    price: float


class Shop:
    """What has been bought, which features that makes available, and what can be bought next.

    Parameters
    ----------
    costs : CostTable
    is_offered : bool array of shape (n_sources,), optional
        Sources that may be bought.
    """

    def __init__(self, costs: CostTable, is_offered: NDArray[np.bool_] | None = None) -> None:
        self._costs = costs
        self._is_offered = np.ones(costs.n_sources, dtype=np.bool_) if is_offered is None else is_offered
        self.has = (costs.price == 0) & self._is_offered

    def columns(self, more: tuple[int, ...] = ()) -> NDArray[np.intp]:
        """Features that are available, perhaps with more sources."""
        has = self.has.copy()
        has[list(more)] = True
        return np.flatnonzero(self._costs.available(has))

    def steps(self) -> list[Step]:
        """List what can be bought next: for each feature, the sources that it still lacks."""
        costs, found = self._costs, {}
        is_open = self._costs.available(self.has | self._is_offered) & ~self._costs.available(self.has)
        for k in np.flatnonzero(is_open).tolist():
            needs = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
            sources = tuple(needs[~self.has[needs]].tolist())
            if sources not in found:
                found[sources] = Step(sources, float(costs.price[list(sources)].sum()))
        return list(found.values())

    def offered_columns(self) -> NDArray[np.intp]:
        """Features that are available or can be bought."""
        return np.flatnonzero(self._costs.available(self._is_offered))

    def gains(self, steps: list[Step], gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the gains of the features that each step makes available."""
        known = gains[self.columns()].sum()
        if any(len(step.sources) > 1 for step in steps):
            return np.array([gains[self.columns(step.sources)].sum() - known for step in steps])
        # Each feature that is not available yet lacks one source.
        costs = self._costs
        lacks = ~self.has[costs.needs]
        feature = np.repeat(np.arange(costs.n_features), np.diff(costs.needs_start))
        per_source = np.zeros(costs.n_sources)
        np.add.at(per_source, costs.needs[lacks], gains[feature[lacks]])
        return per_source[[step.sources[0] for step in steps]]

    def buy(self, step: Step) -> None:
        self.has[list(step.sources)] = True


@dataclass(frozen=True, eq=False)
class Division:
    """Rows that models are grown on, and others that judge them."""

    train: Sample
    test: Sample


@dataclass(frozen=True, eq=False)
class Trials:
    """How models are tried.

    Attributes
    ----------
    learner : Learner
    settings : Settings
    divisions : tuple of Division
        Losses are averages over all of them. One is enough if there are many rows.
    n_threads : int
    deadline : Deadline
    tell : called after each model
    """

    learner: Learner
    settings: Settings
    divisions: tuple[Division, ...]
    n_threads: int
    deadline: Deadline
    tell: Callable[[], Any] = lambda: None

    @property
    def train(self) -> Sample:
        """Training rows of the first division."""
        return self.divisions[0].train

    @property
    def test(self) -> Sample:
        """Other rows of the first division."""
        return self.divisions[0].test

    def grow(self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int, number: int = 0) -> Grown:
        """Grow a model on the training rows of a division."""
        grown = self.learner.grow(
            Task(
                self.divisions[number].train,
                columns,
                start,
                n_rounds,
                self.settings,
                n_threads=self.n_threads,
                is_over=self.deadline.is_over,
            )
        )
        self.tell()
        return grown


@dataclass(frozen=True, eq=False)
class _Reached:
    """Scores with what has been bought, of the rows of one division.

    Attributes
    ----------
    start : of the training rows
    seen : of the other rows
    """

    start: Scores
    seen: Scores

    def after(self, grown: Grown, decay: float, division: Division) -> _Reached:
        """Return the scores with one more stage."""
        return _Reached(
            grown.scores(division.train.rows) + decay * self.start,
            grown.scores(division.test.rows) + decay * self.seen,
        )


def order_sources(trials: Trials, shop: Shop, exponent: float) -> list[Step]:
    """Order the sources that help at all.

    At each step, the source is next that lowers the loss most, per price to the power of `exponent`.

    Parameters
    ----------
    trials : Trials
    shop : Shop
        What is free has been bought.
    exponent : float
        1: loss saved per price. More: cheap sources first.
    """
    order: list[Step] = []
    reached = []
    for i, division in enumerate(trials.divisions):
        free = trials.grow(shop.columns(), None, N_ROUNDS, i)
        reached.append(_Reached(free.scores(division.train.rows), free.scores(division.test.rows)))
    while len(order) < N_TRIED_STEPS and not trials.deadline.is_over():
        best = _best_step(trials, shop, reached, exponent, N_CANDIDATES if order else N_FIRST_CANDIDATES)
        if best is None:
            break
        step, grown = best
        reached = [
            each.after(model, trials.learner.decay, division)
            for each, model, division in zip(reached, grown, trials.divisions, strict=True)
        ]
        shop.buy(step)
        order.append(step)
    return order + _rest(trials, shop, reached, exponent)


def _best_step(
    trials: Trials, shop: Shop, reached: Sequence[_Reached], exponent: float, n_candidates: int
) -> tuple[Step, list[Grown]] | None:
    """Try what can be bought next, and return the best; None if nothing helps."""
    steps = shop.steps()
    if not steps:
        return None
    decay = trials.learner.decay
    starts = [decay * each.start if decay else None for each in reached]
    losses = [mean_loss(of.test, each.seen) for of, each in zip(trials.divisions, reached, strict=True)]
    worth = shop.gains(steps, _feature_gains(trials, shop, starts)) / _power(steps, exponent)
    candidates = [i for i in np.argsort(-worth, kind="stable")[:n_candidates].tolist() if worth[i] > 0]

    def attempt(i: int) -> tuple[float, Step, list[Grown]] | None:
        if trials.deadline.is_over() and i != candidates[0]:
            return None
        step, saved, grown = steps[i], 0.0, []
        columns = shop.columns(step.sources)
        for number, division in enumerate(trials.divisions):
            grown.append(trials.grow(columns, starts[number], N_ROUNDS, number))
            test, seen = division.test, reached[number].seen
            saved += losses[number] - mean_loss(test, grown[-1].scores(test.rows) + decay * seen)
        return saved / step.price**exponent, step, grown

    found = [each for each in map_in_threads(attempt, candidates, trials.n_threads) if each is not None]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or best[0] <= 0 else best[1:]


def _rest(trials: Trials, shop: Shop, reached: Sequence[_Reached], exponent: float) -> list[Step]:
    """Order all other sources that have a gain by the gains of one model."""
    decay = trials.learner.decay
    order: list[Step] = []
    gains = _feature_gains(trials, shop, [decay * each.start if decay else None for each in reached])
    while steps := shop.steps():
        worth = shop.gains(steps, gains) / _power(steps, exponent)
        are_independent = all(len(step.sources) == 1 for step in steps)
        # Steps that share no source do not change each other's gains.
        for i in np.argsort(-worth, kind="stable")[: None if are_independent else 1].tolist():
            if worth[i] <= 0:
                return order
            shop.buy(steps[i])
            order.append(steps[i])
    return order


def promising_columns(trials: Trials, shop: Shop, n_steps: int) -> NDArray[np.intp]:
    """Columns that are available after the steps that have the largest gains per price."""
    steps = shop.steps()
    gains = _feature_gains(trials, shop, [None] * len(trials.divisions))
    worth = shop.gains(steps, gains) / _power(steps, 1.0)
    best = np.argsort(-worth, kind="stable")[:n_steps].tolist()
    return shop.columns(tuple(source for i in best for source in steps[i].sources))


def _feature_gains(trials: Trials, shop: Shop, starts: Sequence[Scores | None]) -> NDArray[np.float64]:
    """Add up the gains of models on all features that can be bought, one for each division."""
    columns = shop.offered_columns()
    found = np.zeros(trials.train.columns.n_features)
    for number, start in enumerate(starts):
        grown = trials.grow(columns, start, N_GAIN_ROUNDS, number)
        found += trials.learner.gains(grown, found.size)
    return found


def _power(steps: list[Step], exponent: float) -> NDArray[np.float64]:
    return np.array([step.price**exponent for step in steps])


# --- Stages -------------------------------------------------------------------------------------------------

# The first steps are stages of their own; later ones are joined until the cost has grown by this factor.
N_SINGLE, GROWTH = 10, 1.12


def join_steps(order: list[Step], most: int) -> list[tuple[int, ...]]:
    """Join steps to stages, of sources that are bought together.

    Parameters
    ----------
    order : list of Step
    most : int
        Number of stages, at most.
    """
    n_single, growth = min(N_SINGLE, most), GROWTH
    while True:
        stages = _joined(order, n_single, growth)
        if len(stages) <= most:
            return stages
        n_single, growth = max(1, n_single - 1), growth * 1.05


def _joined(order: list[Step], n_single: int, growth: float) -> list[tuple[int, ...]]:
    stages: list[tuple[int, ...]] = []
    sources: tuple[int, ...] = ()
    cost = last = 0.0
    for i, step in enumerate(order):
        sources, cost = sources + step.sources, cost + step.price
        if i < n_single or cost >= growth * last or i == len(order) - 1:
            stages.append(sources)
            sources, last = (), cost
    return stages
