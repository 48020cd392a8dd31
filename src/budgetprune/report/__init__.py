"""A page to choose an operating point by, and to defend it: data, then a `Summary`, then a template."""

from budgetprune.report._page import render, write_page
from budgetprune.report._summarise import check_path, summarise
from budgetprune.report._summary import Summary

__all__ = ["Summary", "check_path", "render", "summarise", "write_page"]
