"""Sentences about another model."""

from __future__ import annotations

from dataclasses import replace

from budgetprune.report.numbers import pluralize
from budgetprune.report.summary.rival import Rival, RivalOutcome
from budgetprune.report.words.outcomes import compared_with_reference
from budgetprune.report.words.terms import Terms


def rival_verdict(terms: Terms, rival: Rival, found: RivalOutcome, n_rows: int) -> str:
    """Compare another model with the one of the report."""
    own = replace(terms, reference="your model")
    text = compared_with_reference(own, found.outcome, n_rows, "On the same rows", rival.name)
    if found.n_only_own is None or found.n_only_other is None:
        return text
    n_rows = found.n_only_own + found.n_only_other
    if not n_rows:
        return f"{text} Both are right on the same rows."
    return (
        f"{text} Only one of them is right on {pluralize(n_rows, 'row')}: your model on "
        f"{found.n_only_own:,}, {rival.name} on {found.n_only_other:,}."
    )
