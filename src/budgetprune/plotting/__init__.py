"""Displays in the style of scikit-learn: created from a fitted estimator, drawn on any axes.

Needs the extra ``budgetprune[plot]``.
"""

from budgetprune.plotting.stages import StagesDisplay
from budgetprune.plotting.tradeoff import Curve, TradeoffDisplay
from budgetprune.plotting.usage import FeatureUsageDisplay

__all__ = ["Curve", "FeatureUsageDisplay", "StagesDisplay", "TradeoffDisplay"]
