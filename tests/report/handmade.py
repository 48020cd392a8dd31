"""Outcomes and summaries written by hand, without a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from budgetprune.report.summary.outcome import CostHistogram, OtherSources, Reference, SourceLine, SourceShare
from budgetprune.report.summary.pruned import Change, OperatingPoint, PrunedOutcome
from budgetprune.report.words.terms import Terms

TERMS = Terms(
    score_name="accuracy",
    is_accuracy=True,
    unit="EUR",
    sources="features",
    reference="the whole forest",
    class_names=("no", "yes"),
)
REGRESSION = Terms(
    score_name="R²",
    is_accuracy=False,
    unit="",
    sources="sources",
    reference="the whole ensemble",
    class_names=None,
)
NO_CHANGE = Change(0.0, None, False, 0.0, 0.0, 0.0, None)
WHOLE = Reference(cost=7.0, score=0.9, n_acquired=3.0)

# Ten rows that cost 1 (seven of them), 3 (two) and 7.
OURS = PrunedOutcome(
    cost=2.0,
    smallest=1.0,
    median=1.0,
    ninetieth=3.0,
    largest=7.0,
    free=0.0,
    costs=CostHistogram((0.5, 1.5), 1.0, (0.7, 0.3), True),
    n_acquired=1.5,
    lines=(SourceLine(0, 1.0, 1.0, 1.0, 1.0), SourceLine(1, 0.5, 1.0, 1.0, 2.0)),
    others=OtherSources(1, 0.0, 0.0, 4.0),
    top_sources=(SourceShare("a", 0.5), SourceShare("b", 0.5)),
    score=0.8,
    score_error=0.1,
    gained=-0.1,
    gained_error=0.1,
    n_wrong=2,
    mean_error=None,
    error_cost=None,
    by_class=None,
    probabilities=None,
    confusion=((7, 1), (1, 1)),
    residuals=None,
    undecided=0.0,
    only_answer=None,
    reference=WHOLE,
    dropped=("c",),
    n_dropped=1,
    more=NO_CHANGE,
    less=NO_CHANGE,
)


def outcome(**changes: Any) -> PrunedOutcome:
    return replace(OURS, **changes)


def point(shown: PrunedOutcome = OURS, **changes: Any) -> OperatingPoint:
    """A point with the same outcome for both ways to count."""
    made = OperatingPoint(
        kind="path",
        number=1,
        lam=0.5,
        budget="2.5",
        n_rows=10,
        n_splits=3,
        n_features=2,
        n_tree_splits=1,
        full=shown,
        decided=shown,
        expected=None,
        usage=(1.0, 0.0, 0.0),
        predictions=(),
    )
    return replace(made, **changes)
