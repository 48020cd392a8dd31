"""How many stages, folds and chains there is time for."""

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
# Stages that each chain has before a further chain, or a fold of few rows, is given up.
STAGES_OF_CHAINS = 10
# Folds that are left have this many rows in all, or there are two of them.
ENOUGH_TESTED, FEWEST_FOLDS = 4000, 2
# Rounds of a stage that there should be time for; and in a hurry, in which the learning rate is larger.
USUAL_ROUNDS, FEW_ROUNDS = 80, 40
# Rounds by which the time of a round is measured. The first ones are faster than the others.
MEASURED_ROUNDS = 30


@dataclass(frozen=True)
class TrainingExtent:
    """How much there is time for.

    Attributes
    ----------
    n_stages, n_folds, n_chains : int
        At most. A chain for the budget that is asked for is trained in any case.
    is_hurried : whether each stage has one setting only
    """

    n_stages: int
    n_folds: int
    n_chains: int
    single_setting: bool


def choose_training_extent(
    spec: FitSpec, trials: TrialTrainer, orders: Sequence[list[Step]], left: float
) -> TrainingExtent:
    """Choose how many stages, folds and chains there may be: each stage should have time for enough rounds.

    Parameters
    ----------
    work : FitSpec
    trials : TrialTrainer
        By which the time of a round is measured.
    orders : of the sources, one for each chain
    left : seconds for the training of all chains; infinite if the time is not limited
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
        # The first fold tries settings; the stages on all rows take longer than those of a fold.
        n_times = n_tried + extent.n_folds - 1 + len(spec.sample) / n_rows
        n_rounds = FEW_ROUNDS if extent.single_setting else USUAL_ROUNDS
        return n_times * n_rows * sum(speed.seconds(plan, n_rounds) for plan in plans) / speed_up(spec.n_jobs)

    return next((extent for extent in all_extents if seconds(extent) <= left), all_extents[-1])


@dataclass(frozen=True)
class _TrainingSpeed:
    """How long stages take.

    Attributes
    ----------
    binning : seconds for a row and a unit of relative time, to sort values into bins
    training : the same, for a round
    scoring : seconds for a row and a round, to compute scores
    """

    binning: float
    training: float
    scoring: float

    def seconds(self, plan: StagePlan, n_rounds: int) -> float:
        """Estimate how long it takes to train the stages of a plan, for each row."""
        training = (self.binning + n_rounds * self.training) * relative_time(plan.columns).sum()
        return float(training + n_rounds * self.scoring * len(plan.columns))


def _measure_speed(trials: TrialTrainer, columns: NDArray[np.intp]) -> _TrainingSpeed:
    """Measure it with models on all columns."""
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
    """List extents, from everything to the least.

    What is given up first costs least accuracy. On 13,000 design rows of MiniBooNE at a cost of 3, twenty
    stages have an accuracy of .913. With two folds and one setting for each stage, the training takes less
    than half the time, and the accuracy is .912; with fourteen stages .913, ten .909, eight .907, six .900.
    """
    # Two of five.
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
