"""Content of the page and of the JSON output: the rounded numbers of a summary with its sentences."""

from __future__ import annotations

from typing import Any

from budgetprune.report.content.pruned import pruned_content
from budgetprune.report.content.staged import staged_content
from budgetprune.report.summary import StagedSummary, Summary
from budgetprune.report.words import pruned_headline, staged_headline

__all__ = ["headline", "to_json"]


def to_json(summary: Summary | StagedSummary) -> dict[str, Any]:
    """Return the content of a report as values that `json.dumps` accepts, without NaN and infinity.

    This is what ``budgetprune report --json`` prints, and all that the page shows.
    """
    return staged_content(summary) if isinstance(summary, StagedSummary) else pruned_content(summary)


def headline(summary: Summary | StagedSummary) -> str:
    """Return two or three sentences with the main results."""
    return staged_headline(summary) if isinstance(summary, StagedSummary) else pruned_headline(summary)
