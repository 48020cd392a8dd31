"""Specifications of stages that are shortened for lack of time."""

from __future__ import annotations

from budgetprune.staged.learners.task import TreeSettings
from budgetprune.staged.training.plan import StageSpec


def test_fewer_rounds_count_more():
    way = StageSpec(TreeSettings(learning_rate=0.1), 100, 10.0).shortened(0.5)
    assert (way.settings.learning_rate, way.n_rounds, way.seconds) == (0.2, 50, 5.0)
    slow = StageSpec(TreeSettings(learning_rate=0.5), 100).shortened(0.5)
    assert slow.settings.learning_rate == 0.5
