"""How many stages, folds and chains there is time for."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from budgetprune import FeatureCosts
from budgetprune.staged.data.columns import FeatureSchema
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.fitting.training_extent import (
    ENOUGH_TESTED,
    FEWEST_FOLDS,
    FEWEST_STAGES,
    MOST_STAGES,
    TrainingExtent,
    choose_training_extent,
)
from budgetprune.staged.learners.constant import ConstantScore
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.ordering.acquired_sources import Step
from budgetprune.staged.ordering.stages import plan_stages
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.trials import TrialSplit, TrialTrainer

N_FEATURES = 30
COSTS = FeatureCosts(np.ones(N_FEATURES)).resolve(N_FEATURES, None)
ORDER = [Step((k,), 1.0) for k in range(N_FEATURES)]


class TakesTime(Learner):
    """A learner whose rounds take a millisecond for each row and each column, by a clock of its own."""

    name = "takes time"
    decay = 0.0

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock

    def _grow(self, task: GrowTask) -> GrownTrees:
        assert task.n_rounds is not None
        assert not task.is_over()
        self.clock[0] += 1e-3 * task.n_rounds * len(task.sample) * task.columns.size
        return ConstantScore(task.sample, None)

    def gains(self, grown: GrownTrees, n_features: int) -> np.ndarray:
        return np.zeros(n_features)


def extent_within(clock: list[float], left: float, n_rows: int = 100, n_chains: int = 3) -> TrainingExtent:
    rows = np.zeros((n_rows, N_FEATURES))
    sample = LearningSample(
        rows, np.arange(n_rows) % 2, None, FeatureSchema(N_FEATURES, None, None), "binary", 1
    )
    parts = np.array_split(np.arange(n_rows), 5)
    folds = [(np.setdiff1d(np.arange(n_rows), part), part) for part in parts]
    spec = SimpleNamespace(sample=sample, folds=folds, costs=COSTS, n_jobs=1)
    # The time for the orders is over, which must not spoil the measurement.
    trials = TrialTrainer(TakesTime(clock), TreeSettings(), (TrialSplit(sample, sample),), 1, Deadline(0.0))
    return choose_training_extent(spec, trials, [ORDER] * n_chains, left)


def test_everything_if_the_time_is_not_limited(clock):
    assert extent_within(clock, np.inf) == TrainingExtent(MOST_STAGES, 5, 3, single_setting=False)
    assert clock[0] == 0


def test_the_least_if_no_time_is_left(clock):
    assert extent_within(clock, 0.0) == TrainingExtent(FEWEST_STAGES, FEWEST_FOLDS, 1, single_setting=True)
    assert clock[0] == 0


def test_more_time_is_never_for_fewer_stages_of_a_chain(clock):
    """What is given up: folds and settings, then stages down to ten, then chains."""
    found = [extent_within(clock, left) for left in np.geomspace(10, 1e5, 60)]
    assert found[0] == TrainingExtent(FEWEST_STAGES, FEWEST_FOLDS, 1, single_setting=True)
    assert found[-1] == TrainingExtent(MOST_STAGES, 5, 3, single_setting=False)
    for one, other in pairwise(found):
        assert one.n_chains <= other.n_chains
        assert one.n_stages <= other.n_stages or one.n_chains < other.n_chains
        assert one.n_folds <= other.n_folds
        assert one.single_setting >= other.single_setting
    assert {each.n_folds for each in found if each.n_chains == 3} == {5}  # 100 rows are few


def test_of_many_rows_two_folds_are_enough(clock):
    found = {extent_within(clock, left, 2 * ENOUGH_TESTED) for left in np.geomspace(100, 1e9, 60)}
    assert {each.n_folds for each in found if not each.single_setting} == {3, 5}
    assert any(each.n_folds == 3 and each.n_stages == MOST_STAGES and each.single_setting for each in found)


@pytest.mark.parametrize("left", [700.0, 1000.0, 3000.0, 2e4])
def test_stages_that_are_chosen_fit_into_the_time(clock, left):
    """As many rounds as are planned, for each stage of each fold and on all rows."""
    found = extent_within(clock, left, n_chains=1)
    columns = plan_stages(COSTS, ORDER, found.n_stages).columns
    n_rounds = 40 if found.single_setting else 80
    n_rows = 80 * (found.n_folds + (not found.single_setting)) + 100
    seconds = 1e-3 * n_rows * n_rounds * sum(each.size for each in columns)
    assert left / 3 <= seconds <= left
