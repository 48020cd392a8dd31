"""Pictures in scikit-learn's manner: a display is made from what was fitted, and plots itself on any axes.

Needs the extra ``budgetprune[plot]``.
"""

from budgetprune.displays._stages import StagesDisplay
from budgetprune.displays._tradeoff import Curve, TradeoffDisplay
from budgetprune.displays._usage import FeatureUsageDisplay

__all__ = ["Curve", "FeatureUsageDisplay", "StagesDisplay", "TradeoffDisplay"]
