"""Fitting: from rows and prices to chains of stages and the trade-off curve."""

from budgetprune.staged.fitting.pipeline import Fitted, fit_chains
from budgetprune.staged.fitting.work import Work

__all__ = ["Fitted", "Work", "fit_chains"]
