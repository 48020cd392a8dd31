"""scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetprune import BudgetClassifier, BudgetRegressor

LEAVES = {
    f"check_sample_weight_equivalence_on_{rows}_data": "LightGBM counts rows in leaves, whatever they weigh"
    for rows in ("dense", "sparse")
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return LEAVES if isinstance(estimator, BudgetClassifier) else {}


@pytest.mark.usefixtures("one_thread")
# Some checks have labels that are drawn at random.
@pytest.mark.filterwarnings(
    "ignore:no source makes predictions more accurate:budgetprune.errors.BudgetWarning"
)
@parametrize_with_checks(
    [BudgetClassifier(cv=2, n_jobs=1), BudgetRegressor(cv=2, n_jobs=1)],
    expected_failed_checks=expected_failures,
)
def test_checks(estimator, check, request):
    if "check_sample_weight_equivalence" in str(check):
        # Weights and repeated rows give equal predictions where many rounds fit the labels exactly.
        request.getfixturevalue("full_training")
    check(estimator)
