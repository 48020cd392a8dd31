"""A page to choose an operating point by, and to defend it: data, then a `Summary`, then a template."""

from budgetprune.report._entry import forest_of, summarise
from budgetprune.report._page import render, write_page
from budgetprune.report._summarise import check_path
from budgetprune.report._summary import Summary
from budgetprune.report.staged import StagedSummary

__all__ = ["StagedSummary", "Summary", "check_path", "forest_of", "render", "summarise", "write_page"]
