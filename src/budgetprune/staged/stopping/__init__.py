"""Stopping rules: thresholds of the uncertainty, learnt by backward induction."""

from budgetprune.staged.stopping.interpolation import interpolate_rules
from budgetprune.staged.stopping.lambdas import choose_lambdas
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults, StoppingData
from budgetprune.staged.stopping.thresholds import effective_thresholds, learn_thresholds, stopping_stage

__all__ = [
    "OutOfFoldResults",
    "StoppingData",
    "choose_lambdas",
    "effective_thresholds",
    "interpolate_rules",
    "learn_thresholds",
    "stopping_stage",
]
