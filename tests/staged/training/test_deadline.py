"""Deadlines and shares of the time that is left."""

from __future__ import annotations

import numpy as np

from budgetprune.staged.training.deadline import Deadline


def test_a_share_of_the_time(clock):
    whole = Deadline(100.0)
    part = whole.share(0.25)
    clock[0] = 25.0
    assert part.is_over()
    assert not whole.is_over()
    assert whole.share(0.5).left() == 37.5
    assert Deadline(None).share(0.5).left() == np.inf
