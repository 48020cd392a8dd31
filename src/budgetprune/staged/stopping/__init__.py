"""Stopping rules: thresholds of the uncertainty, learnt by backward induction."""

from budgetprune.staged.stopping.between import rules_between
from budgetprune.staged.stopping.evidence import Crossed, Evidence
from budgetprune.staged.stopping.lambdas import useful_lams
from budgetprune.staged.stopping.thresholds import applied, learn_thresholds, stops_at

__all__ = ["Crossed", "Evidence", "applied", "learn_thresholds", "rules_between", "stops_at", "useful_lams"]
