"""Linear baselines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from budgetprune.baselines import CostWeightedL1
from budgetprune_experiments.contest import Contest, Point, coarse_to_fine


def cost_weighted_l1(contest: Contest) -> Iterator[Point]:
    def train(rows: Any, strength: float) -> CostWeightedL1:
        model = CostWeightedL1(strength, costs=contest.costs, n_jobs=contest.jobs)
        return model.fit(rows.X, rows.y)

    strengths = contest.grids.l1
    for k in contest.deadline.within(coarse_to_fine(np.log(strengths)), at_least=2):
        make = partial(train, strength=strengths[k])
        again = partial(make, contest.split.train_and_val)
        yield contest.point(f"C {strengths[k]:g}", make(contest.split.train), again)
