"""Pictures in scikit-learn's manner: a display is made from what was fitted, and plots itself on any axes.

Needs the extra ``budgetprune[plot]``.
"""

from budgetprune.plotting.stages import StagesDisplay
from budgetprune.plotting.tradeoff import Curve, TradeoffDisplay
from budgetprune.plotting.usage import FeatureUsageDisplay

__all__ = ["Curve", "FeatureUsageDisplay", "StagesDisplay", "TradeoffDisplay"]
