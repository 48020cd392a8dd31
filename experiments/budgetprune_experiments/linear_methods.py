"""Linear baselines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from budgetprune.baselines import CostWeightedL1
from budgetprune_experiments.task import Point, Task, coarse_to_fine


def cost_weighted_l1(task: Task) -> Iterator[Point]:
    def train(rows: Any, strength: float) -> CostWeightedL1:
        model = CostWeightedL1(strength, costs=task.costs, n_jobs=task.jobs)
        return model.fit(rows.X, rows.y)

    strengths = task.grids.l1
    for k in task.deadline.within(coarse_to_fine(np.log(strengths)), at_least=2):
        make = partial(train, strength=strengths[k])
        refit = partial(make, task.split.train_and_val)
        yield task.point(f"C {strengths[k]:g}", make(task.split.train), refit)
