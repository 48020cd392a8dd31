"""Feature costs: sources, their prices, and the sources that each feature needs."""

from budgetprune.costs import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.costs.cost_table import ROUNDING, CostTable, check_cost_table
from budgetprune.costs.feature_costs import FeatureCosts

__all__ = ["ROUNDING", "CostTable", "FeatureCosts", "check_cost_table"]
