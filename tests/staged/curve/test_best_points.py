"""Points that a curve keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune.staged.curve.best_points import best_points

from ...golden.staged_models import curve

FOUND = replace(
    curve([0.0, 1.0, 2.0, 3.0], [0, 0, 0, 0], [[np.inf] * 3] * 4),
    score=np.array([0.9, 0.8, 0.95, 0.85]),
    loss=np.array([5.0, 3.0, 4.0, 1.0]),
)


def test_points_are_kept_by_score_or_by_loss():
    every = np.ones(4, dtype=bool)
    assert best_points(FOUND, every).cost.tolist() == [0, 2]
    assert best_points(FOUND, every, by_loss=True).cost.tolist() == [0, 1, 3]
    assert best_points(FOUND, every, keeps_full_point=True).cost.tolist() == [0, 2, 3]


def test_no_budget_leads_to_a_point_that_costs_more_in_all_than_a_cheaper_one():
    """Points behind the best one stay, and show what more money would buy."""
    every = np.ones(4, dtype=bool)
    cases = [([5, 4.5, 2, 0.5], [0, 2, 3]), ([5, 3, 2.5, 2], [0, 1, 2, 3]), ([5, 4.5, 4, 1], [0, 3])]
    for loss, kept in cases:
        found = replace(FOUND, loss=np.array(loss, dtype=float))
        curve = best_points(found, every, by_loss=True, in_unit_of_costs=True)
        assert curve.cost.tolist() == kept


def test_what_a_point_that_is_no_candidate_would_beat_is_kept():
    is_candidate = np.array([False, True, False, True])
    assert best_points(FOUND, is_candidate).cost.tolist() == [1, 3]
