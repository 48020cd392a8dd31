"""In which order sources are bought: forward selection by what they save per unit of price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import Scores
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.training.trials import TrialSplit, TrialTrainer
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
class _CurrentScores:
    """Scores with what has been bought, of the rows of one division.

    Attributes
    ----------
    start : of the training rows
    seen : of the other rows
    """

    start: Scores
    seen: Scores

    def after(self, grown: GrownTrees, decay: float, split: TrialSplit) -> _CurrentScores:
        """Return the scores with one more stage."""
        return _CurrentScores(
            grown.scores(split.train.rows) + decay * self.start,
            grown.scores(split.test.rows) + decay * self.seen,
        )


def order_sources(trials: TrialTrainer, acquired: AcquiredSources, exponent: float) -> list[Step]:
    """Order the sources that help at all.

    At each step, the source is next that lowers the loss most, per price to the power of `exponent`.

    Parameters
    ----------
    trials : TrialTrainer
    shop : AcquiredSources
        What is free has been bought.
    exponent : float
        1: loss saved per price. More: cheap sources first.
    """
    order: list[Step] = []
    reached = []
    for i, split in enumerate(trials.splits):
        free = trials.grow(acquired.columns(), None, N_ROUNDS, i)
        reached.append(_CurrentScores(free.scores(split.train.rows), free.scores(split.test.rows)))
    while len(order) < N_TRIED_STEPS and not trials.deadline.is_over():
        best = _best_step(trials, acquired, reached, exponent, N_CANDIDATES if order else N_FIRST_CANDIDATES)
        if best is None:
            break
        step, grown = best
        reached = [
            each.after(model, trials.learner.decay, split)
            for each, model, split in zip(reached, grown, trials.splits, strict=True)
        ]
        acquired.acquire(step)
        order.append(step)
    return order + _order_by_gains(trials, acquired, reached, exponent)


def _best_step(
    trials: TrialTrainer,
    acquired: AcquiredSources,
    reached: Sequence[_CurrentScores],
    exponent: float,
    n_candidates: int,
) -> tuple[Step, list[GrownTrees]] | None:
    """Try what can be bought next, and return the best; None if nothing helps."""
    steps = acquired.steps()
    if not steps:
        return None
    decay = trials.learner.decay
    starts = [decay * each.start if decay else None for each in reached]
    losses = [mean_loss(of.test, each.seen) for of, each in zip(trials.splits, reached, strict=True)]
    worth = acquired.gains(steps, _feature_gains(trials, acquired, starts)) / _power(steps, exponent)
    candidates = [i for i in np.argsort(-worth, kind="stable")[:n_candidates].tolist() if worth[i] > 0]

    def attempt(i: int) -> tuple[float, Step, list[GrownTrees]] | None:
        if trials.deadline.is_over() and i != candidates[0]:
            return None
        step, saved, grown = steps[i], 0.0, []
        columns = acquired.columns(step.sources)
        for number, split in enumerate(trials.splits):
            grown.append(trials.grow(columns, starts[number], N_ROUNDS, number))
            test, seen = split.test, reached[number].seen
            saved += losses[number] - mean_loss(test, grown[-1].scores(test.rows) + decay * seen)
        return saved / step.price**exponent, step, grown

    found = [each for each in map_in_threads(attempt, candidates, trials.n_threads) if each is not None]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or best[0] <= 0 else best[1:]


def _order_by_gains(
    trials: TrialTrainer, acquired: AcquiredSources, reached: Sequence[_CurrentScores], exponent: float
) -> list[Step]:
    """Order all other sources that have a gain by the gains of one model."""
    decay = trials.learner.decay
    order: list[Step] = []
    gains = _feature_gains(trials, acquired, [decay * each.start if decay else None for each in reached])
    while steps := acquired.steps():
        worth = acquired.gains(steps, gains) / _power(steps, exponent)
        are_independent = all(len(step.sources) == 1 for step in steps)
        # Steps that share no source do not change each other's gains.
        for i in np.argsort(-worth, kind="stable")[: None if are_independent else 1].tolist():
            if worth[i] <= 0:
                return order
            acquired.acquire(steps[i])
            order.append(steps[i])
    return order


def promising_columns(trials: TrialTrainer, acquired: AcquiredSources, n_steps: int) -> NDArray[np.intp]:
    """Columns that are available after the steps that have the largest gains per price."""
    steps = acquired.steps()
    gains = _feature_gains(trials, acquired, [None] * len(trials.splits))
    worth = acquired.gains(steps, gains) / _power(steps, 1.0)
    best = np.argsort(-worth, kind="stable")[:n_steps].tolist()
    return acquired.columns(tuple(source for i in best for source in steps[i].sources))


def _feature_gains(
    trials: TrialTrainer, acquired: AcquiredSources, starts: Sequence[Scores | None]
) -> NDArray[np.float64]:
    """Add up the gains of models on all features that can be bought, one for each division."""
    columns = acquired.offered_columns()
    found = np.zeros(trials.train.columns.n_features)
    for number, start in enumerate(starts):
        grown = trials.grow(columns, start, N_GAIN_ROUNDS, number)
        found += trials.learner.gains(grown, found.size)
    return found


def _power(steps: list[Step], exponent: float) -> NDArray[np.float64]:
    return np.array([step.price**exponent for step in steps])
