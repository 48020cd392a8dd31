"""The trade-off curve: cross-fitted points, selection of the best ones, risk control."""

from budgetprune.staged.curve.best_points import best_points
from budgetprune.staged.curve.consistency import has_expected_cost
from budgetprune.staged.curve.points import Score, cross_fitted_points
from budgetprune.staged.curve.risk import TEST_SHARE, RiskCertificate, certify, certify_risk, check_risk

__all__ = [
    "TEST_SHARE",
    "RiskCertificate",
    "Score",
    "best_points",
    "certify",
    "certify_risk",
    "check_risk",
    "cross_fitted_points",
    "has_expected_cost",
]
