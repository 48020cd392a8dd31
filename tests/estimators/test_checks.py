"""scikit-learn's own checks: what they ask of an ensemble, they may ask of its pruned form."""

from __future__ import annotations

from typing import Any

import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor

# scikit-learn expects the same of these: for them, a row of weight 2 is not a row that is there twice.
WEIGHTS_ARE_NOT_REPEATS = (
    RandomForestClassifier,
    RandomForestRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
WEIGHT_CHECKS = {
    f"check_sample_weight_equivalence_on_{rows}_data": "a weight of 2 is not a repeated row"
    for rows in ("dense", "sparse")
}

ESTIMATORS = [
    BudgetPruneClassifier(RandomForestClassifier(5)),
    BudgetPruneRegressor(RandomForestRegressor(5)),
    BudgetPruneClassifier(ExtraTreesClassifier(5)),
    BudgetPruneRegressor(ExtraTreesRegressor(5)),
    BudgetPruneClassifier(GradientBoostingClassifier(n_estimators=5)),
    BudgetPruneRegressor(GradientBoostingRegressor(n_estimators=10)),
    BudgetPruneClassifier(HistGradientBoostingClassifier(max_iter=5)),
    BudgetPruneRegressor(HistGradientBoostingRegressor(max_iter=10)),
    BudgetPruneClassifier(LGBMClassifier(n_estimators=5, verbose=-1)),
    BudgetPruneRegressor(LGBMRegressor(n_estimators=10, verbose=-1)),
    BudgetPruneClassifier(RandomForestClassifier(5), counting="decided"),
    BudgetPruneRegressor(RandomForestRegressor(5), counting="decided", slack=0.1, tolerance=0.1),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks that fail; each must, since `xfail_strict` is set for all tests."""
    return WEIGHT_CHECKS if isinstance(estimator.estimator, WEIGHTS_ARE_NOT_REPEATS) else {}


# Checks use few rows, and few validation rows make no choices, which is said.
pytestmark = pytest.mark.filterwarnings("ignore::budgetprune.BudgetWarning")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)


# A hundred trees, so the quicker half of the checks must do.
@parametrize_with_checks(
    [BudgetPruneClassifier(), BudgetPruneRegressor()],
    legacy=False,
    expected_failed_checks=expected_failures,
)
def test_checks_of_defaults(estimator, check):
    check(estimator)
