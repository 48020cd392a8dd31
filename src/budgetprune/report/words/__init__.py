"""Sentences of a report, made from the numbers of its summary."""

from budgetprune.report.words.pruned import pruned_headline
from budgetprune.report.words.staged import staged_headline

__all__ = ["pruned_headline", "staged_headline"]
