"""Choice of the number of stages, folds and chains, given the time limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.learners.learner import FEWEST_ROUNDS
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.ordering.stages import plan_stages
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.plan import COLUMNS_OF_ROUND, StagePlan, relative_time, speed_up
from budgetprune.staged.training.trials import TrialTrainer

MOST_STAGES, FEWEST_STAGES = 20, 5
# The number of stages is reduced to this before chains and folds are.
STAGES_OF_CHAINS = 10
# The number of folds is reduced as far as they have this many test rows, but not below the minimum.
ENOUGH_TESTED, FEWEST_FOLDS = 4000, 2
# Rounds of a stage for which there should be time; the latter with a single setting per stage.
USUAL_ROUNDS, FEW_ROUNDS = 80, 40
# Rounds used to measure the time of a round, after the first few, which are faster.
MEASURED_ROUNDS = 30


@dataclass(frozen=True)
class TrainingExtent:
    """Maximum numbers of stages, folds and chains.

    Attributes
    ----------
    n_stages, n_folds, n_chains : int
        Maximum numbers. A chain for the requested budget is trained in any case.
    single_setting : bool
        Whether each stage has one candidate setting only.
    """

    n_stages: int
    n_folds: int
    n_chains: int
    single_setting: bool


def choose_training_extent(
    spec: FitSpec, trials: TrialTrainer, orders: Sequence[list[Step]], left: float
) -> TrainingExtent:
    """Choose the largest extent with enough time for the rounds of each stage.

    Parameters
    ----------
    spec : FitSpec
    trials : TrialTrainer
        Used to measure the time of a round.
    orders : orders of the sources, one for each chain
    left : seconds for the training of all chains; infinite without a time limit
    """
    everything = TrainingExtent(MOST_STAGES, len(spec.folds), len(orders), single_setting=False)
    all_extents = list(_extents_in_falling_order(everything, _few_folds(spec)))
    if left == np.inf or left <= 0:
        return all_extents[0 if left > 0 else -1]
    columns = AcquiredSources(spec.costs).offered_columns()
    speed = _measure_speed(trials, columns)
    n_rows = len(spec.folds[0][0])

    def seconds(extent: TrainingExtent) -> float:
        plans = [plan_stages(spec.costs, order, extent.n_stages) for order in orders[: extent.n_chains]]
        n_tried = 1 if extent.single_setting else 2
        # The first fold compares settings; the stages on all rows take longer than those of a fold.
        n_times = n_tried + extent.n_folds - 1 + len(spec.sample) / n_rows
        n_rounds = FEW_ROUNDS if extent.single_setting else USUAL_ROUNDS
        return n_times * n_rows * sum(speed.seconds(plan, n_rounds) for plan in plans) / speed_up(spec.n_jobs)

    return next((extent for extent in all_extents if seconds(extent) <= left), all_extents[-1])


@dataclass(frozen=True)
class _TrainingSpeed:
    """Measured training times.

    Attributes
    ----------
    binning : seconds of binning, per row and unit of `relative_time`
    training : seconds of a boosting round, per row and unit of `relative_time`
    scoring : seconds of prediction, per row and round
    """

    binning: float
    training: float
    scoring: float

    def seconds(self, plan: StagePlan, n_rounds: int) -> float:
        """Estimate the training time of the stages of a plan, in seconds per row."""
        training = (self.binning + n_rounds * self.training) * relative_time(plan.columns).sum()
        return float(training + n_rounds * self.scoring * len(plan.columns))


def _measure_speed(trials: TrialTrainer, columns: NDArray[np.intp]) -> _TrainingSpeed:
    """Measure training times with models on all columns."""
    trials = replace(trials, deadline=Deadline(None))
    taken = []
    for n_rounds in (FEWEST_ROUNDS, FEWEST_ROUNDS + MEASURED_ROUNDS):
        began = time.monotonic()
        grown = trials.grow(columns, None, n_rounds)
        taken.append(time.monotonic() - began)
    began = time.monotonic()
    grown.scores(trials.train.rows)
    scoring = (time.monotonic() - began) / (FEWEST_ROUNDS + MEASURED_ROUNDS)
    of_round = max(taken[1] - taken[0], 0.0) / MEASURED_ROUNDS
    binning = max(taken[0] - FEWEST_ROUNDS * of_round, 0.0)
    unit = len(trials.train) * (COLUMNS_OF_ROUND + columns.size)
    return _TrainingSpeed(binning / unit, of_round / unit, scoring / len(trials.train))


def _few_folds(spec: FitSpec) -> int:
    n_tested = np.cumsum([test.size for _, test in spec.folds])
    n_folds = 1 + int(np.searchsorted(n_tested, ENOUGH_TESTED))
    return min(max(n_folds, FEWEST_FOLDS), len(spec.folds))


def _extents_in_falling_order(everything: TrainingExtent, few_folds: int) -> Iterator[TrainingExtent]:
    """List extents, from the largest to the smallest.

    Reductions that cost little accuracy come first. Measured on 13,000 design rows of MiniBooNE at a cost of
    3: accuracy .913 with twenty stages; .912 with two folds and one setting per stage, in less than half the
    time; then .913 with fourteen stages, .909 with ten, .907 with eight, .900 with six.
    """
    # Two of five folds.
    least_folds = max(FEWEST_FOLDS, round(0.4 * everything.n_folds))
    yield everything
    few = replace(everything, n_folds=few_folds)
    yield few
    reduced = replace(few, single_setting=True)
    for n_chains in dict.fromkeys([reduced.n_chains, 1]):
        for n_stages in range(MOST_STAGES, STAGES_OF_CHAINS - 1, -1):
            yield replace(reduced, n_stages=n_stages, n_chains=n_chains)
    for n_stages in range(STAGES_OF_CHAINS, FEWEST_STAGES - 1, -1):
        yield TrainingExtent(n_stages, min(few_folds, least_folds), 1, single_setting=True)
