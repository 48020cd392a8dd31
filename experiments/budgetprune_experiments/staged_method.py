"""Staged models, with a curve cross-fitted on T and V."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from budgetprune.staged import BudgetClassifier
from budgetprune_experiments.our_methods import Decided
from budgetprune_experiments.task import T_AND_V, Point, Task


def staged(task: Task) -> Iterator[Point]:
    """Train one staged model for all budgets: the points are those of its trade-off.

    Settings, stages and stopping rules are chosen by cross-fitting during training, so all rows of T and V
    are training rows. Classes have the same weights as in the base forest.
    """
    rows, clock = task.split.train_and_val, task.deadline
    model = BudgetClassifier(
        task.costs,
        scoring=task.scoring,
        class_weight=task.base.get_params().get("class_weight"),
        time_limit=max(0.0, clock.seconds - clock.used) if np.isfinite(clock.seconds) else None,
        random_state=task.seed,
        n_jobs=task.jobs,
    ).fit(rows.X, rows.y, qid=rows.qid)
    curve = model.tradeoff_
    for cost, score in zip(curve.cost.tolist(), curve.score.tolist(), strict=True):
        make = partial(_at, model, cost)
        yield Point(f"budget {cost:.4g}, {model.settings_!r}", cost, score, make, trained_on=T_AND_V)


def _at(model: BudgetClassifier, budget: float) -> Decided:
    return Decided(model.with_budget(budget))
