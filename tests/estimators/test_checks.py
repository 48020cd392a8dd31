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

try:
    from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
except ImportError:  # private, so it may move; then nothing is known to fail but this
    PER_ESTIMATOR_XFAIL_CHECKS = {
        kind: {
            f"check_sample_weight_equivalence_on_{rows}_data": "bootstraps and bins know no weights"
            for rows in ("dense", "sparse")
        }
        for kind in (
            RandomForestClassifier,
            RandomForestRegressor,
            GradientBoostingClassifier,
            GradientBoostingRegressor,
            HistGradientBoostingClassifier,
            HistGradientBoostingRegressor,
        )
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
    """What scikit-learn declares for the ensemble inside; nothing for those of other libraries."""
    kind = type(estimator._default_estimator() if estimator.estimator is None else estimator.estimator)
    return PER_ESTIMATOR_XFAIL_CHECKS.get(kind, {})


# Checks use few rows, and few validation rows make no choices, which is said.
pytestmark = pytest.mark.filterwarnings("ignore::budgetprune.BudgetWarning")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=False)
def test_checks(estimator, check):
    check(estimator)


# A hundred trees, so the quicker half of the checks must do.
@parametrize_with_checks(
    [BudgetPruneClassifier(), BudgetPruneRegressor()],
    legacy=False,
    expected_failed_checks=expected_failures,
    xfail_strict=False,
)
def test_checks_of_defaults(estimator, check):
    check(estimator)
