"""Choice of the learner: boosting, or a forest if it is significantly better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.folds import Fold
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.calibration import best_scale, calibrated_loss
from budgetprune.staged.learners.forest import forest_settings
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.losses import row_losses
from budgetprune.staged.learners.registry import LearnerCandidates
from budgetprune.staged.learners.task import TreeSettings
from budgetprune.staged.training.plan import StagePlan
from budgetprune.staged.training.trainer import StageTrainer
from budgetprune.staged.training.trials import TrialTrainer

# With more rows, forests are rarely better than boosting; they are also slow and their trees large.
MOST_ROWS_OF_FORESTS = 20_000
# With at most this many rows, all folds are compared, because losses of few rows are noisy; else one fold.
MOST_ROWS_OF_ALL_FOLDS = 5_000
# Number of trees of the forests that are trained to choose settings.
N_TRIED_TREES = 30
# A forest must be better by this many standard errors of the difference.
LEAST_STANDARD_ERRORS = 2.0
_LearnerAndSettings = tuple[Learner, TreeSettings]


@dataclass(frozen=True, eq=False)
class LearnerComparison:
    """Inputs for a cross-fitted comparison of boosted trees with forests.

    Attributes
    ----------
    trials : TrialTrainer
        For boosted trees, with their settings.
    columns : int array
        All features that can be acquired.
    sample : LearningSample
    folds : folds of cross-fitting
    seed : int
    """

    trials: TrialTrainer
    columns: NDArray[np.intp]
    sample: LearningSample
    folds: Sequence[Fold]
    seed: int


def choose_learner(candidates: LearnerCandidates, compared: LearnerComparison) -> _LearnerAndSettings:
    """Return the learner for the stages, and its settings."""
    trials = compared.trials
    boosted, forest = (trials.learner, trials.settings), candidates.forest
    if forest is None:
        return boosted
    if candidates.is_forest_required:
        return forest, _best_settings(forest, compared)
    if len(compared.sample) > MOST_ROWS_OF_FORESTS or trials.deadline.is_over():
        return boosted
    chosen = forest, _best_settings(forest, compared)
    is_better = _is_significantly_better(chosen, boosted, compared)
    # After the deadline, boosted trees have stopped early, so the comparison is not fair to them.
    return chosen if is_better and not trials.deadline.is_over() else boosted


def _best_settings(forest: Learner, compared: LearnerComparison) -> TreeSettings:
    """Return the forest settings with the lowest loss on the test rows."""
    trials, best, least = compared.trials, None, np.inf
    for settings in forest_settings(len(trials.train)):
        if best is not None and trials.deadline.is_over():
            break
        own = replace(trials, learner=forest, settings=settings)
        scores = own.grow(compared.columns, None, N_TRIED_TREES).scores(trials.test.rows)
        loss = calibrated_loss(trials.test, scores)
        if loss < least:
            best, least = settings, loss
    assert best is not None
    return best


def _is_significantly_better(
    one: _LearnerAndSettings, other: _LearnerAndSettings, compared: LearnerComparison
) -> bool:
    """Whether the loss of `one` is lower than that of `other` by a significant difference.

    If `one` is not better on the first fold, the others are not trained; this ends most comparisons.
    """
    sample, folds = compared.sample, compared.folds
    gains: list[NDArray[np.float64]] = []
    weights: list[NDArray[np.float64]] = []
    for fold in folds if len(sample) <= MOST_ROWS_OF_ALL_FOLDS else folds[:1]:
        if gains and compared.trials.deadline.is_over():
            return False
        train, test = sample.take(fold[0]), sample.take(fold[1])
        gains.append(_losses(other, train, test, compared) - _losses(one, train, test, compared))
        weights.append(np.ones(len(test)) if test.weight is None else test.weight)
        if weights[0] @ gains[0] <= 0:
            return False
    gain, weight = np.concatenate(gains), np.concatenate(weights)
    weight = weight / weight.sum()
    mean = weight @ gain
    error = np.sqrt(np.sum((weight * (gain - mean)) ** 2))
    return bool(mean > LEAST_STANDARD_ERRORS * error)


def _losses(
    candidate: _LearnerAndSettings, train: LearningSample, test: LearningSample, compared: LearnerComparison
) -> NDArray[np.float64]:
    """Losses of the test rows at one stage with all columns."""
    trials = compared.trials
    learner, settings = candidate
    trainer = StageTrainer(
        learner, (settings,), compared.seed, trials.n_threads, lambda: None, trials.deadline, 1
    )
    scores = trainer.test_scores(StagePlan(((),), (compared.columns,)), train, test)
    return row_losses(test, best_scale(test, scores) * scores)
