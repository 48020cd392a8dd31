"""Cross-fitting of stages: limited time, folds that are enough, and weights of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from budgetprune.staged import BudgetClassifier
from budgetprune.staged.data import folds as folds_module
from budgetprune.staged.data.columns import Columns
from budgetprune.staged.data.folds import enough_folds, even_folds
from budgetprune.staged.data.sample import Sample
from budgetprune.staged.learners.constant import ConstantScore
from budgetprune.staged.learners.learner import FEWEST_ROUNDS, Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.plan import LARGEST_RATE, StagePlan, StageSpec
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


def sample() -> Sample:
    rng = np.random.default_rng(0)
    target = np.arange(N_ROWS) % 2
    return Sample(rng.normal(size=(N_ROWS, 3)), target, None, Columns(3, None, None), "binary", 1)


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


def test_fewer_rounds_count_more():
    way = StageSpec(TreeSettings(learning_rate=0.1), 100, 10.0).shortened(0.5)
    assert (way.settings.learning_rate, way.n_rounds, way.seconds) == (0.2, 50, 5.0)
    slow = StageSpec(TreeSettings(learning_rate=0.5), 100).shortened(0.5)
    assert slow.settings.learning_rate == 0.5


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


def test_a_share_of_the_time(clock):
    whole = Deadline(100.0)
    part = whole.share(0.25)
    clock[0] = 25.0
    assert part.is_over()
    assert not whole.is_over()
    assert whole.share(0.5).left() == 37.5
    assert Deadline(None).share(0.5).left() == np.inf


@pytest.mark.parametrize(("n_rows", "n_folds"), [(10, 5), (20_000, 5), (26_000, 4), (60_000, 2), (10**6, 2)])
def test_folds_that_are_enough(n_rows, n_folds):
    folds = even_folds(np.random.RandomState(0), 5, np.zeros(n_rows, dtype=np.intp), None)
    assert len(enough_folds(folds)) == n_folds


def test_rows_of_no_fold_are_trained_on(monkeypatch):
    """With two of five folds, costs on new rows are those of the curve."""
    monkeypatch.setattr(folds_module, "ENOUGH_ROWS", 600)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_500, 4))
    y = X @ [1.0, 0.8, 0.6, 0.4] + 0.3 * rng.normal(size=len(X)) > 0
    model = BudgetClassifier(learner="lightgbm", random_state=0).fit(X[:1500], y[:1500])
    assert np.isfinite(model.tradeoff_.score).all()
    for cost in model.tradeoff_.cost[:: len(model.tradeoff_) // 5]:
        found = model.with_budget(cost).acquisition_cost(X[1500:]).mean()
        assert found == pytest.approx(cost, rel=0.15, abs=0.1)


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
