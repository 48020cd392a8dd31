"""In which order sources are bought: forward selection by what they save per unit of price."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged._learner import Learner
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
        self._needs = [
            costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]] for k in range(costs.n_features)
        ]

    def columns(self, more: tuple[int, ...] = ()) -> NDArray[np.intp]:
        """Features that are available, perhaps with more sources."""
        has = self.has.copy()
        has[list(more)] = True
        return np.array([k for k, needs in enumerate(self._needs) if has[needs].all()], dtype=np.intp)

    def steps(self) -> list[Step]:
        """List what can be bought next: for each feature, the sources that it still lacks."""
        found = {}
        for needs in self._needs:
            lacking = needs[~self.has[needs]]
            if lacking.size and self._is_offered[lacking].all():
                sources = tuple(lacking.tolist())
                found[sources] = Step(sources, float(self._costs.price[lacking].sum()))
        return list(found.values())

    def offered_columns(self) -> NDArray[np.intp]:
        """Features that are available or can be bought."""
        return np.array([k for k, needs in enumerate(self._needs) if self._is_offered[needs].all()], np.intp)

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
    is_over: Callable[[], bool]

    def in_threads(self, attempt: Callable[[int], Any], candidates: list[int]) -> list[Any]:
        """Try candidates at the same time, each with a thread of its own."""
        with ThreadPoolExecutor(self.n_threads) as pool:
            try:
                return list(pool.map(attempt, candidates))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def grow(self, columns: NDArray[np.intp], start: Scores | None, n_rounds: int) -> Grown:
        """Grow a model on the training rows."""
        return self.learner.grow(
            self.train,
            columns,
            start,
            n_rounds,
            self.settings,
            n_threads=self.n_threads,
            is_over=self.is_over,
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
    while len(order) < N_TRIED_STEPS and not trials.is_over():
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
    worth = _gains_of_steps(shop, steps, _feature_gains(trials, shop, decayed)) / _power(steps, exponent)
    candidates = [i for i in np.argsort(-worth, kind="stable")[:n_candidates].tolist() if worth[i] > 0]

    def attempt(i: int) -> tuple[float, Step, Grown] | None:
        if trials.is_over() and i != candidates[0]:
            return None
        step = steps[i]
        grown = trials.grow(shop.columns(step.sources), decayed, N_ROUNDS)
        saved = loss - mean_loss(test, grown.scores(test.rows) + learner.decay * seen)
        return saved / step.price**exponent, step, grown

    found = [each for each in trials.in_threads(attempt, candidates) if each is not None]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or best[0] <= 0 else best[1:]


def _rest(trials: Trials, shop: Shop, start: Scores, exponent: float) -> list[Step]:
    """Order all other sources that have a gain by the gains of one model."""
    decayed = trials.learner.decay * start if trials.learner.decay else None
    order: list[Step] = []
    gains = None
    while steps := shop.steps():
        if gains is None:
            gains = _feature_gains(trials, shop, decayed)
        worth = _gains_of_steps(shop, steps, gains) / _power(steps, exponent)
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            break
        shop.buy(steps[best])
        order.append(steps[best])
    return order


def _feature_gains(trials: Trials, shop: Shop, start: Scores | None) -> NDArray[np.float64]:
    columns = shop.offered_columns()
    grown = trials.grow(columns, start, N_GAIN_ROUNDS)
    return trials.learner.gains(grown, trials.train.columns.n_features)


def _gains_of_steps(shop: Shop, steps: list[Step], gains: NDArray[np.float64]) -> NDArray[np.float64]:
    known = shop.columns()
    found = [gains[shop.columns(step.sources)].sum() - gains[known].sum() for step in steps]
    return np.array(found, dtype=np.float64)


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
