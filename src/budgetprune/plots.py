"""Deprecated import path of `budgetprune.plotting.plots`."""

import warnings

from budgetprune.plotting import Curve, Purchases, new_figure, save_trade_off, tidy

__all__ = ["Curve", "Purchases", "new_figure", "save_trade_off", "tidy"]

warnings.warn(
    "budgetprune.plots is deprecated; import from budgetprune.plotting.plots.",
    DeprecationWarning,
    stacklevel=2,
)
