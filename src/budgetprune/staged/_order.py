"""In which order sources are bought: forward selection by what they save per unit of price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune._threads import map_in_threads
from budgetprune.costs import CostTable
from budgetprune.staged._deadline import Deadline
from budgetprune.staged._learner import Learner, Task
from budgetprune.staged._sample import Grown, Sample, Scores, Settings, mean_loss

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
class Trials:
    """How models are tried: grown on some rows, judged by others."""

    learner: Learner
    settings: Settings
    train: Sample
    test: Sample
    n_threads: int
    deadline: Deadline

    def grow(self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int) -> Grown:
        """Grow a model on the training rows."""
        return self.learner.grow(
            Task(
                self.train,
                columns,
                start,
                n_rounds,
                self.settings,
                n_threads=self.n_threads,
                is_over=self.deadline.is_over,
            )
        )


def order_sources(trials: Trials, shop: Shop, exponent: float) -> list[Step]:
    """Order the sources that help at all.

    At each step, the source is next that lowers the loss most, per price to the power of `exponent`.

    Parameters
    ----------
    trials : Trials
    shop : Shop
        Sources that are bought, are bought there.
    exponent : float
        1: what a source saves per unit of price. More: cheap ones come earlier.
    """
    order: list[Step] = []
    now = trials.grow(shop.columns(), None, N_ROUNDS)
    start, seen = now.scores(trials.train.rows), now.scores(trials.test.rows)
    while len(order) < N_TRIED_STEPS and not trials.deadline.is_over():
        best = _best_step(trials, shop, start, seen, exponent, N_CANDIDATES if order else N_FIRST_CANDIDATES)
        if best is None:
            break
        step, grown = best
        decay = trials.learner.decay
        start = grown.scores(trials.train.rows) + decay * start
        seen = grown.scores(trials.test.rows) + decay * seen
        shop.buy(step)
        order.append(step)
    return order + _rest(trials, shop, start, exponent)


def _best_step(
    trials: Trials, shop: Shop, start: Scores, seen: Scores, exponent: float, n_candidates: int
) -> tuple[Step, Grown] | None:
    """Try what can be bought next, and return the best; None if nothing helps."""
    steps = shop.steps()
    if not steps:
        return None
    learner, test = trials.learner, trials.test
    loss = mean_loss(test, seen)
    decayed = learner.decay * start if learner.decay else None
    worth = shop.gains(steps, _feature_gains(trials, shop, decayed)) / _power(steps, exponent)
    candidates = [i for i in np.argsort(-worth, kind="stable")[:n_candidates].tolist() if worth[i] > 0]

    def attempt(i: int) -> tuple[float, Step, Grown] | None:
        if trials.deadline.is_over() and i != candidates[0]:
            return None
        step = steps[i]
        grown = trials.grow(shop.columns(step.sources), decayed, N_ROUNDS)
        saved = loss - mean_loss(test, grown.scores(test.rows) + learner.decay * seen)
        return saved / step.price**exponent, step, grown

    found = [each for each in map_in_threads(attempt, candidates, trials.n_threads) if each is not None]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or best[0] <= 0 else best[1:]


def _rest(trials: Trials, shop: Shop, start: Scores, exponent: float) -> list[Step]:
    """Order all other sources that have a gain by the gains of one model."""
    decayed = trials.learner.decay * start if trials.learner.decay else None
    order: list[Step] = []
    gains = _feature_gains(trials, shop, decayed)
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
    worth = shop.gains(steps, _feature_gains(trials, shop, None)) / _power(steps, 1.0)
    best = np.argsort(-worth, kind="stable")[:n_steps].tolist()
    return shop.columns(tuple(source for i in best for source in steps[i].sources))


def _feature_gains(trials: Trials, shop: Shop, start: Scores | None) -> NDArray[np.float64]:
    columns = shop.offered_columns()
    grown = trials.grow(columns, start, N_GAIN_ROUNDS)
    return trials.learner.gains(grown, trials.train.columns.n_features)


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
