"""Feature costs: sources, their prices, and the sources that each feature needs."""

from budgetprune.costs import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.costs.cost_table import ROUNDING, CostTable, check_cost_table
from budgetprune.costs.feature_costs import FeatureCosts
from budgetprune.costs.price_lists import PRICE_RANGE, is_missing, is_pandas, is_price, listed

__all__ = [
    "PRICE_RANGE",
    "ROUNDING",
    "CostTable",
    "FeatureCosts",
    "check_cost_table",
    "is_missing",
    "is_pandas",
    "is_price",
    "listed",
]
