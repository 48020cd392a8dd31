"""Order of sources by forward selection: loss saved per unit of price."""

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

# Steps chosen by trial; the rest are ordered by the split gains of one model. Few rows reach later stages,
# and these have several sources, so their order matters little.
N_TRIED_STEPS = 14
# Candidates tried per step, and rounds of a trial. Correlated features share their gains, so a low gain means
# less at the first step, which therefore tries more candidates.
N_CANDIDATES, N_FIRST_CANDIDATES, N_ROUNDS = 8, 40, 30
# Rounds of the model whose split gains select the candidates.
N_GAIN_ROUNDS = 12


@dataclass(frozen=True, eq=False)
class _CurrentScores:
    """Scores of the rows of one split after the steps chosen so far.

    Attributes
    ----------
    train : scores of the training rows
    test : scores of the test rows
    """

    train: Scores
    test: Scores

    def after(self, grown: GrownTrees, decay: float, split: TrialSplit) -> _CurrentScores:
        """Return the scores with one more stage."""
        return _CurrentScores(
            grown.scores(split.train.rows) + decay * self.train,
            grown.scores(split.test.rows) + decay * self.test,
        )


def order_sources(trials: TrialTrainer, acquired: AcquiredSources, exponent: float) -> list[Step]:
    """Order the sources that reduce the loss.

    Each step is the one with the largest reduction of the loss divided by ``price ** exponent``.

    Parameters
    ----------
    trials : TrialTrainer
    acquired : AcquiredSources
        Only free sources are acquired; changed in place.
    exponent : float
        1: loss saved per unit of price. Larger: cheap sources first. 0: prices are ignored.
    """
    order: list[Step] = []
    current = []
    for i, split in enumerate(trials.splits):
        free = trials.grow(acquired.columns(), None, N_ROUNDS, i)
        current.append(_CurrentScores(free.scores(split.train.rows), free.scores(split.test.rows)))
    while len(order) < N_TRIED_STEPS and not trials.deadline.is_over():
        best = _best_step(trials, acquired, current, exponent, N_CANDIDATES if order else N_FIRST_CANDIDATES)
        if best is None:
            break
        step, grown = best
        current = [
            each.after(model, trials.learner.decay, split)
            for each, model, split in zip(current, grown, trials.splits, strict=True)
        ]
        acquired.acquire(step)
        order.append(step)
    return order + _order_by_gains(trials, acquired, current, exponent)


def _best_step(
    trials: TrialTrainer,
    acquired: AcquiredSources,
    current: Sequence[_CurrentScores],
    exponent: float,
    n_candidates: int,
) -> tuple[Step, list[GrownTrees]] | None:
    """Try the most promising next steps and return the best, with its trees; None if none helps."""
    steps = acquired.steps()
    if not steps:
        return None
    decay = trials.learner.decay
    starts = [decay * each.train if decay else None for each in current]
    losses = [mean_loss(of.test, each.test) for of, each in zip(trials.splits, current, strict=True)]
    worth = acquired.gains(steps, _feature_gains(trials, acquired, starts)) / _power(steps, exponent)
    candidates = [i for i in np.argsort(-worth, kind="stable")[:n_candidates].tolist() if worth[i] > 0]

    def attempt(i: int) -> tuple[float, Step, list[GrownTrees]] | None:
        if trials.deadline.is_over() and i != candidates[0]:
            return None
        step, saved, grown = steps[i], 0.0, []
        columns = acquired.columns(step.sources)
        for number, split in enumerate(trials.splits):
            grown.append(trials.grow(columns, starts[number], N_ROUNDS, number))
            scores = grown[-1].scores(split.test.rows) + decay * current[number].test
            saved += losses[number] - mean_loss(split.test, scores)
        return saved / step.price**exponent, step, grown

    found = [each for each in map_in_threads(attempt, candidates, trials.n_threads) if each is not None]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or best[0] <= 0 else best[1:]


def _order_by_gains(
    trials: TrialTrainer, acquired: AcquiredSources, current: Sequence[_CurrentScores], exponent: float
) -> list[Step]:
    """Order the remaining sources by the split gains of one model; leave out those without gain."""
    decay = trials.learner.decay
    order: list[Step] = []
    gains = _feature_gains(trials, acquired, [decay * each.train if decay else None for each in current])
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
    """Columns that are available after the `n_steps` steps with the largest gains per unit of price."""
    steps = acquired.steps()
    gains = _feature_gains(trials, acquired, [None] * len(trials.splits))
    worth = acquired.gains(steps, gains) / _power(steps, 1.0)
    best = np.argsort(-worth, kind="stable")[:n_steps].tolist()
    return acquired.columns(tuple(source for i in best for source in steps[i].sources))


def _feature_gains(
    trials: TrialTrainer, acquired: AcquiredSources, starts: Sequence[Scores | None]
) -> NDArray[np.float64]:
    """Split gains of each feature, summed over models on all offered features, one per split of the rows."""
    columns = acquired.offered_columns()
    found = np.zeros(trials.train.columns.n_features)
    for number, start in enumerate(starts):
        grown = trials.grow(columns, start, N_GAIN_ROUNDS, number)
        found += trials.learner.gains(grown, found.size)
    return found


def _power(steps: list[Step], exponent: float) -> NDArray[np.float64]:
    return np.array([step.price**exponent for step in steps])
