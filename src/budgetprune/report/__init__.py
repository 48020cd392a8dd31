"""HTML report for choosing an operating point: measurements, then a `Summary`, then words and a page.

`summarise` measures a model on test rows and returns a `Summary` or a `StagedSummary`, which hold numbers and
names only. `to_json`, `headline`, `render` and `write_page` turn a summary into sentences and a page; they
need no model.
"""

from budgetprune.report.content import headline, to_json
from budgetprune.report.entry import OtherModel, forest_of, inputs_of, summarise
from budgetprune.report.measure import check_path
from budgetprune.report.numbers import pluralize
from budgetprune.report.options import ReportOptions
from budgetprune.report.render import render, write_page
from budgetprune.report.summary import StagedSummary, Summary

__all__ = [
    "OtherModel",
    "ReportOptions",
    "StagedSummary",
    "Summary",
    "check_path",
    "forest_of",
    "headline",
    "inputs_of",
    "pluralize",
    "render",
    "summarise",
    "to_json",
    "write_page",
]
