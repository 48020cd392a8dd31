"""Steps of an order are joined into stages."""

from __future__ import annotations

import pytest

from budgetprune.staged.ordering.acquired_sources import Step
from budgetprune.staged.ordering.stages import join_steps


@pytest.mark.parametrize("n_steps", [0, 1, 9, 40, 300])
def test_stages_buy_all_steps_once(n_steps):
    order = [Step((s,), 1.0) for s in range(n_steps)]
    stages = join_steps(order, 20)
    assert len(stages) <= 20
    assert [s for stage in stages for s in stage] == list(range(n_steps))
