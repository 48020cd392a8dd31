"""Content of a report as plain values: numbers, identifiers and names, without sentences."""

from budgetprune.report.summary.pruned import Summary
from budgetprune.report.summary.staged import StagedSummary

__all__ = ["StagedSummary", "Summary"]
