"""In which order sources are bought: forward selection by what they save per unit of price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import Scores
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.learners.trees import Grown
from budgetprune.staged.ordering.sources import Shop, Step
from budgetprune.staged.training.trials import Division, Trials
from budgetprune.utils.threads import map_in_threads

# Steps that are chosen by trial; the rest is ordered by the gains of one model. Later stages are reached by
# few rows and have several sources, so that their order matters little.
N_TRIED_STEPS = 14
# Candidates that are tried for a step, and rounds of a trial. Gains of correlated features are shared between
# them, so that the first step needs more candidates.
N_CANDIDATES, N_FIRST_CANDIDATES, N_ROUNDS = 8, 40, 30
# Rounds of the model whose gains propose the candidates.
N_GAIN_ROUNDS = 12


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
