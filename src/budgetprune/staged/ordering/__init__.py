"""Orders in which sources are acquired, and the stages made from them."""

from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.ordering.forward_selection import order_sources, promising_columns
from budgetprune.staged.ordering.limits import CostLimits
from budgetprune.staged.ordering.orders import propose_orders
from budgetprune.staged.ordering.stages import join_steps, plan_stages

__all__ = [
    "AcquiredSources",
    "CostLimits",
    "Step",
    "join_steps",
    "order_sources",
    "plan_stages",
    "promising_columns",
    "propose_orders",
]
