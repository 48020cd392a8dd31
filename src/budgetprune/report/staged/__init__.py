"""Reports of staged models: stopping stages, value of the next stage, example rows."""

from budgetprune.report.staged.summarise import summarise_staged
from budgetprune.report.staged.summary import StagedSummary

__all__ = ["StagedSummary", "summarise_staged"]
