"""The trade-off curve: cross-fitted points, selection of the best ones, risk control."""

from budgetprune.staged.curve.best_points import best_points
from budgetprune.staged.curve.consistency import costs_as_expected
from budgetprune.staged.curve.points import Score, all_points
from budgetprune.staged.curve.risk import TEST_SHARE, Promise, certify, check_risk, make_promise

__all__ = [
    "TEST_SHARE",
    "Promise",
    "Score",
    "all_points",
    "best_points",
    "certify",
    "check_risk",
    "costs_as_expected",
    "make_promise",
]
