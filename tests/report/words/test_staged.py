"""Sentences about a staged model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from budgetprune.report.summary.staged import ExampleStep, StageOutcome
from budgetprune.report.summary.values import FeatureValues
from budgetprune.report.words.staged import stage_rule, step_reason

from ..models import summary_of


@pytest.fixture(scope="module")
def summary():
    return replace(summary_of("two classes"), max_cost=4.0, unit="EUR")


def step(reason, uncertainty=0.4, threshold=None):
    values = FeatureValues((), 0)
    return ExampleStep((), values, 0.0, "yes", 0.6, None, uncertainty, threshold, True, reason)


def test_reasons(summary):
    texts = {reason: step_reason(summary, step(reason)) for reason in ("continue", "free", "limit", "last")}
    assert texts == {
        "continue": "Went on because all rows do so at this stage and budget.",
        "free": "Went on because the next stage costs nothing.",
        "limit": "Stopped because the next stage would exceed the limit of 4.",
        "last": "Stopped because this is the last stage.",
    }
    assert step_reason(summary, step("stop")) == "Stopped because no row goes on from here at this budget."
    assert step_reason(summary, step("above", 0.4, 0.1)) == (
        "Went on because the probability of an error, 40.0 %, is above 10.0 %."
    )
    assert step_reason(summary, step("below", 0.05, 0.1)) == (
        "Stopped because the probability of an error, 5.0 %, is not above 10.0 %."
    )
    # A limit may have a threshold as well.
    assert "limit of 4" in step_reason(summary, step("limit", 0.4, 0.2))


def test_close_numbers_get_more_digits(summary):
    assert "10.003 %, is above 10.000 %" in step_reason(summary, step("above", 0.10003, 0.1))
    assert "10.0 %, is not above 10.0 %" in step_reason(summary, step("below", 0.1, 0.1))


def test_rules_of_stages(summary):
    def rule(kind, threshold=None):
        return stage_rule(summary, StageOutcome(1.0, 0.0, None, 0.5, None, None, None, kind, threshold, None))

    assert rule("threshold", 0.1) == "above 10.0 %"
    assert [rule(kind) for kind in ("continue", "limit", "last", "stop")] == [
        "all go on",
        "limit of 4 per row",
        "the last stage",
        "all stop",
    ]
