"""How many stages, folds and chains there is time for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.fitting.work import Work
from budgetprune.staged.learners.learner import FEWEST_ROUNDS
from budgetprune.staged.ordering.sources import Shop, Step
from budgetprune.staged.ordering.stages import plan_stages
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.plan import COLUMNS_OF_ROUND, Plan, relative_time, speed_up
from budgetprune.staged.training.trials import Trials

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
class Extent:
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
    is_hurried: bool


def choose_extent(work: Work, trials: Trials, orders: Sequence[list[Step]], left: float) -> Extent:
    """Choose how many stages, folds and chains there may be: each stage should have time for enough rounds.

    Parameters
    ----------
    work : Work
    trials : Trials
        By which the time of a round is measured.
    orders : of the sources, one for each chain
    left : seconds for the training of all chains; infinite if the time is not limited
    """
    everything = Extent(MOST_STAGES, len(work.folds), len(orders), is_hurried=False)
    all_extents = list(_less_and_less(everything, _few_folds(work)))
    if left == np.inf or left <= 0:
        return all_extents[0 if left > 0 else -1]
    columns = Shop(work.costs).offered_columns()
    pace = _measure_pace(trials, columns)
    n_rows = len(work.folds[0][0])

    def seconds(extent: Extent) -> float:
        plans = [plan_stages(work.costs, order, extent.n_stages) for order in orders[: extent.n_chains]]
        n_tried = 1 if extent.is_hurried else 2
        # The first fold tries settings; the stages on all rows take longer than those of a fold.
        n_times = n_tried + extent.n_folds - 1 + len(work.sample) / n_rows
        n_rounds = FEW_ROUNDS if extent.is_hurried else USUAL_ROUNDS
        return n_times * n_rows * sum(pace.seconds(plan, n_rounds) for plan in plans) / speed_up(work.n_jobs)

    return next((extent for extent in all_extents if seconds(extent) <= left), all_extents[-1])


@dataclass(frozen=True)
class _Pace:
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

    def seconds(self, plan: Plan, n_rounds: int) -> float:
        """Estimate how long it takes to train the stages of a plan, for each row."""
        training = (self.binning + n_rounds * self.training) * relative_time(plan.columns).sum()
        return float(training + n_rounds * self.scoring * len(plan.columns))


def _measure_pace(trials: Trials, columns: NDArray[np.intp]) -> _Pace:
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
    return _Pace(binning / unit, of_round / unit, scoring / len(trials.train))


def _few_folds(work: Work) -> int:
    n_tested = np.cumsum([test.size for _, test in work.folds])
    n_folds = 1 + int(np.searchsorted(n_tested, ENOUGH_TESTED))
    return min(max(n_folds, FEWEST_FOLDS), len(work.folds))


def _less_and_less(everything: Extent, few_folds: int) -> Iterator[Extent]:
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
    hurried = replace(few, is_hurried=True)
    for n_chains in dict.fromkeys([hurried.n_chains, 1]):
        for n_stages in range(MOST_STAGES, STAGES_OF_CHAINS - 1, -1):
            yield replace(hurried, n_stages=n_stages, n_chains=n_chains)
    for n_stages in range(STAGES_OF_CHAINS, FEWEST_STAGES - 1, -1):
        yield Extent(n_stages, min(few_folds, least_folds), 1, is_hurried=True)
