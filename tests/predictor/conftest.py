"""What tests of the predictor share."""

from __future__ import annotations

import pytest

from budgetprune import BudgetPredictor, FeatureCosts

from .forests import stumps

# A free feature, setup costs, a shared source, a derived feature, and a source without a price.
NAMES = ("age", "TSH", "T3", "TT4", "index", "sex")
PRICES = {"draw": 4.0, "TSH": 2.0, "T3": 1.0, "TT4": 3.0, "register": 0.0}
NEEDS = {
    "age": None,
    "TSH": ["draw", "TSH"],
    "T3": ["draw", "T3"],
    "TT4": "TT4",
    "index": ["TT4", "draw"],
    "sex": "register",
}
ROW = dict(zip(NAMES, [1.0, 2.0, 0.0, 3.0, 1.0, 0.0], strict=True))


@pytest.fixture(scope="session")
def clinic() -> BudgetPredictor:
    """Every kind of source in one price list. Each feature moves the target, so all of them are needed."""
    return BudgetPredictor(stumps(len(NAMES), NAMES), FeatureCosts.from_sources(PRICES, NEEDS))
