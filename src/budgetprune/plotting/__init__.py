"""Displays in the style of scikit-learn: created from a fitted estimator, drawn on any axes.

Needs the extra ``budgetprune[plot]``.
"""

from budgetprune.plotting.plots import INK, NamedCurve, Purchases, new_figure, save_trade_off, tidy
from budgetprune.plotting.stages import StagesDisplay
from budgetprune.plotting.tradeoff import Curve, TradeoffDisplay
from budgetprune.plotting.usage import FeatureUsageDisplay

__all__ = [
    "INK",
    "Curve",
    "FeatureUsageDisplay",
    "NamedCurve",
    "Purchases",
    "StagesDisplay",
    "TradeoffDisplay",
    "new_figure",
    "save_trade_off",
    "tidy",
]
