"""Content about another model."""

from __future__ import annotations

from dataclasses import asdict

from budgetprune.report.content.common import Content, measures_content, outcome_content
from budgetprune.report.numbers import short, short_amount
from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.rival import Rival, RivalOutcome
from budgetprune.report.words.rival import rival_verdict
from budgetprune.report.words.terms import Terms


def rival_content(summary: SummaryBase, terms: Terms) -> Content | None:
    """Return the results of the other model; None if there is none."""
    rival = summary.rival
    if rival is None:
        return None
    return {
        "name": rival.name,
        "kind": rival.kind,
        "sources": [asdict(source) for source in rival.sources],
        "full": None if rival.full is None else _outcome(terms, rival, rival.full, summary.n_rows),
        "decided": _outcome(terms, rival, rival.decided, summary.n_rows),
    }


def _outcome(terms: Terms, rival: Rival, found: RivalOutcome, n_rows: int) -> Content:
    return (
        outcome_content(found.outcome)
        | measures_content(terms, found.outcome, n_rows)
        | {
            "n_only_own": found.n_only_own,
            "n_only_other": found.n_only_other,
            "curve": {
                "cost": [short_amount(cost) for cost in found.cost],
                "score": [short(score) for score in found.score],
            },
            "words": {"verdict": rival_verdict(terms, rival, found, n_rows)},
        }
    )
