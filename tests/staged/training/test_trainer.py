"""Cross-fitting of stages: limited time, settings of trees, and weights of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from budgetprune.staged import BudgetClassifier
from budgetprune.staged.data.columns import FeatureSchema
from budgetprune.staged.data.folds import even_folds
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.constant import ConstantScore
from budgetprune.staged.learners.learner import FEWEST_ROUNDS, Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.plan import LARGEST_RATE, StagePlan
from budgetprune.staged.training.trainer import StageTrainer, _SettingsRotation

N_ROWS = 40
# Trainings of three stages in the first fold.
N_FIRST = 5


class Recorder(Learner):
    """A learner that takes notes, and whose rounds take time by a clock of its own."""

    name = "recorder"
    decay = 0.0

    def __init__(self, clock: list[float]) -> None:
        self.clock, self.tasks = clock, []

    def _grow(self, task: GrowTask) -> GrownTrees:
        self.tasks.append(task)
        grown = ConstantScore(task.sample, None)
        grown.n_rounds = task.n_rounds or task.settings.most_rounds
        self.clock[0] += grown.n_rounds
        return grown

    def gains(self, grown: GrownTrees, n_features: int) -> np.ndarray:
        return np.zeros(n_features)


def sample() -> LearningSample:
    rng = np.random.default_rng(0)
    target = np.arange(N_ROWS) % 2
    return LearningSample(
        rng.normal(size=(N_ROWS, 3)), target, None, FeatureSchema(3, None, None), "binary", 1
    )


def cross_fitted(clock: list[float], seconds: float | None) -> Sequence[GrowTask]:
    """Train three stages of 100 rounds, a second each, in four folds."""
    learner = Recorder(clock)
    trainer = StageTrainer(
        learner, (TreeSettings(most_rounds=100),), 0, 1, lambda: None, Deadline(seconds), 1
    )
    folds = even_folds(np.random.RandomState(0), 4, sample().target, None)
    trainer.cross_fit(
        StagePlan(((0,), (1,), (2,)), (np.arange(1), np.arange(2), np.arange(3))), sample(), folds
    )
    return learner.tasks


def test_without_a_limit_all_rounds_are_trained(clock):
    tasks = cross_fitted(clock, None)
    # Two sizes of trees for all stages but the last in the first fold; one of them in all others.
    assert [task.n_rounds for task in tasks] == [None] * N_FIRST + [100] * 12


def test_little_time_means_fewer_rounds_for_all_alike(clock):
    tasks = cross_fitted(clock, 100.0 * N_FIRST + 400.0)
    others = tasks[N_FIRST:]
    assert len(others) == 15  # the first fold once more, because its stages were larger
    # 400 seconds for three stages, each trained in four folds and on a third more rows.
    assert {task.n_rounds for task in others} == {int(100 * 400 / (3 * 100 * (4 + 4 / 3)))}
    assert all(task.settings.learning_rate == LARGEST_RATE for task in others)


def test_stages_are_trained_even_if_there_is_no_time(clock):
    tasks = cross_fitted(clock, 0.0)
    assert {task.n_rounds for task in tasks[N_FIRST:]} == {FEWEST_ROUNDS}


def test_settings_are_tried_in_turn():
    """The winner of the stage before against another one; the first stage tries all of them."""
    few, many = TreeSettings(n_leaves=30), TreeSettings(n_leaves=90)
    rotation = _SettingsRotation((few, many))
    specs = rotation.next_candidates()
    assert [each.n_leaves for each in specs] == [
        30,
        90,
        10,
    ]  # fewer leaves of the second are those of the first
    rotation.note(many, n_tried=3)
    assert [each.n_leaves for each in rotation.next_candidates()] == [90, 30]
    rotation.note(many, n_tried=2)
    assert [each.n_leaves for each in rotation.next_candidates()] == [90, 10]
    rotation.note(TreeSettings(n_leaves=10), n_tried=2)
    assert [each.n_leaves for each in rotation.next_candidates()] == [10, 30]


def test_class_weights_do_not_count_in_costs():
    """Rare rows are uncertain and expensive; new rows cost what the curve says all the same."""
    rng = np.random.default_rng(0)
    n = 6_000
    y = rng.random(n) < 0.1
    X = rng.normal(size=(n, 3)) * np.where(y, 2.0, 0.4)[:, None] + 0.5 * y[:, None]
    model = BudgetClassifier(class_weight="balanced", learner="lightgbm", cv=3, random_state=0)
    model.fit(X[:3000], y[:3000])
    curve = model.tradeoff_
    early = curve.cost[(curve.lam > 0) & (curve.cost > 1.05)]
    assert early.size > 3
    for cost in early[:: early.size // 4]:
        found = model.with_budget(cost).acquisition_cost(X[3000:]).mean()
        assert found == pytest.approx(cost, rel=0.1)
