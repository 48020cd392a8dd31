"""scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetprune.baselines import (
    CCP,
    Cascade,
    CEGBClassifier,
    CEGBRegressor,
    CostWeightedL1,
    FeatureSubsets,
    GreedyPrune,
    PlainForest,
)

ESTIMATORS = [
    CCP(RandomForestClassifier(5), ccp_alpha=0.01),
    GreedyPrune(RandomForestClassifier(5)),
    CostWeightedL1(),
    CEGBClassifier(n_estimators=5, tradeoff=0.01),
    CEGBRegressor("coupled", n_estimators=10, tradeoff=0.01),
    FeatureSubsets(n_estimators=5),
    Cascade(n_estimators=5),
]

BOOTSTRAP = {
    f"check_sample_weight_equivalence_on_{rows}_data": "a bootstrap draws rows, whatever they weigh"
    for rows in ("dense", "sparse")
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return BOOTSTRAP if isinstance(estimator, CCP | GreedyPrune | PlainForest) else {}


@pytest.mark.usefixtures("one_thread")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)


# These differ from others in little, so the quicker half of the checks must do.
@pytest.mark.usefixtures("one_thread")
@parametrize_with_checks(
    [
        CCP(RandomForestRegressor(5), ccp_alpha=0.01),
        GreedyPrune(RandomForestRegressor(5), max_steps=1),
        PlainForest(RandomForestClassifier(5)),
        CCP(),
    ],
    legacy=False,
    expected_failed_checks=expected_failures,
)
def test_quicker_checks(estimator, check):
    check(estimator)
