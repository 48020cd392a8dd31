"""HTML report for choosing an operating point: data, then a `Summary`, then a template."""

from budgetprune.report.entry import forest_of, summarise
from budgetprune.report.render import render, write_page
from budgetprune.report.staged import StagedSummary
from budgetprune.report.summarise import check_path
from budgetprune.report.summary import Summary

__all__ = ["StagedSummary", "Summary", "check_path", "forest_of", "render", "summarise", "write_page"]
