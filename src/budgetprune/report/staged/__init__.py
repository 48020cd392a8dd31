"""Reports of staged models: who stops where, what the next stage would save, how single rows are decided."""

from budgetprune.report.staged.summarise import summarise_staged
from budgetprune.report.staged.summary import StagedSummary

__all__ = ["StagedSummary", "summarise_staged"]
