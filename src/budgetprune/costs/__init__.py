"""Feature costs: sources, their prices, and the sources that each feature needs."""

from budgetprune.costs.feature_costs import ROUNDING, CostTable, FeatureCosts, check_cost_table

__all__ = ["ROUNDING", "CostTable", "FeatureCosts", "check_cost_table"]
