"""Training of a staged model: from rows and prices to chains of stages and a trade-off curve."""

from budgetprune.staged.fitting.pipeline import FitResult, fit_staged_model
from budgetprune.staged.fitting.spec import FitSpec

__all__ = ["FitResult", "FitSpec", "fit_staged_model"]
