"""The learners by name."""

from __future__ import annotations

from importlib.util import find_spec

from budgetprune.staged._hist import HistLearner
from budgetprune.staged._learner import Learner
from budgetprune.staged._lightgbm import LightGBMLearner


def has_lightgbm() -> bool:
    """Whether LightGBM is installed."""
    return find_spec("lightgbm") is not None


def default_learner() -> Learner:
    """Return LightGBM where it is installed, and scikit-learn's HistGradientBoosting otherwise."""
    return LightGBMLearner() if has_lightgbm() else HistLearner()


LEARNERS = {"auto": default_learner, "lightgbm": LightGBMLearner, "hist": HistLearner}
