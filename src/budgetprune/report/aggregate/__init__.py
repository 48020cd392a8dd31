"""From measurements with one entry per row to the summary of a report."""

from budgetprune.report.aggregate.pruned import summarise_pruned
from budgetprune.report.aggregate.rival import summarise_rival
from budgetprune.report.aggregate.staged import summarise_staged

__all__ = ["summarise_pruned", "summarise_rival", "summarise_staged"]
