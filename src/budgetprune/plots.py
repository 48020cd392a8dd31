"""Deprecated import path of names in `budgetprune.plotting`."""

import warnings

from budgetprune.plotting import NamedCurve as Curve
from budgetprune.plotting import Purchases, new_figure, save_trade_off, tidy

__all__ = ["Curve", "Purchases", "new_figure", "save_trade_off", "tidy"]

warnings.warn(
    "budgetprune.plots is deprecated; import from budgetprune.plotting, where Curve is called NamedCurve.",
    DeprecationWarning,
    stacklevel=2,
)
