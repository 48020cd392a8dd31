"""Deprecated import path of `budgetprune.plotting`."""

import warnings

from budgetprune.plotting import Curve, FeatureUsageDisplay, StagesDisplay, TradeoffDisplay

__all__ = ["Curve", "FeatureUsageDisplay", "StagesDisplay", "TradeoffDisplay"]

warnings.warn(
    "budgetprune.displays is deprecated; import from budgetprune.plotting.", DeprecationWarning, stacklevel=2
)
