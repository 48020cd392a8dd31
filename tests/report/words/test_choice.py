"""Sentences about the recommended budget, and commands that give a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from budgetprune import InvalidInputError
from budgetprune.report import ReportOptions
from budgetprune.report.summary.common import Recommendation
from budgetprune.report.words.choice import command, download_link, recommendation, refit_command, use

from ..handmade import TERMS, point
from ..models import HOSTILE, summary_of

FOUND = Recommendation("knee", 0, 2.5, 0.85, 0.0, 0.6, 10.0, 0.9, 0.01)


@pytest.fixture(scope="module")
def summary():
    changes = {"unit": "EUR", "points": (point(), point(kind="unpruned", budget=None))}
    return replace(summary_of("cancer"), recommendation=FOUND, **changes)


def told(summary, **changes):
    return recommendation(replace(summary, recommendation=replace(FOUND, **changes)), TERMS)


def test_reasons(summary):
    assert told(summary) == (
        "Recommended: a budget of 2.5 EUR. It is the knee of the cross-fitted curve: up to there, a unit of "
        "cost buys 10.0 points of accuracy on average; from there to the best point (90.0 % at 10.00 EUR), "
        "0.667 points."
    )
    assert told(summary, rule="one standard error").endswith(
        "It is the cheapest point whose cross-fitted accuracy, 85.0 %, is within one standard error (1.0 "
        "point) of the best, 90.0 % at 10.00 EUR."
    )
    assert "no point is clearly better than predicting" in told(summary, rule="constant", point=None)
    own = replace(summary, points=(point(kind="delivered"),))
    assert told(own).startswith("Your model is the recommended point. It is the knee")
    assert recommendation(replace(summary, recommendation=None), TERMS) == ""


def test_commands(summary):
    assert command(summary, point()) == "budgetprune rebudget MODEL --budget 2.5 --out OTHER"
    named = replace(summary, model_name="ill people.budgetprune")
    assert command(named, point()) == (
        "budgetprune rebudget 'ill people.budgetprune' --budget 2.5 --out 'ill people-2.5.budgetprune'"
    )
    assert command(summary, point(budget=None)) == ""
    assert "leaf values as grown" in use(point())
    assert "No budget selects this point" in use(point(kind="unpruned", budget=None))


def test_commands_that_refit_the_leaves(summary):
    fitted = replace(summary, origin=replace(summary.origin, model="lightgbm"), counting="full")
    assert refit_command(fitted, point()) == (
        "budgetprune fit TRAINING_ROWS --target diagnosis --costs PRICES --model lightgbm --budget 2.5 --out "
        "OTHER"
    )
    pruned = replace(summary, origin=replace(summary.origin, model="RandomForestClassifier"), target=HOSTILE)
    assert refit_command(pruned, point()).startswith(
        "budgetprune prune ENSEMBLE --data VALIDATION_ROWS --target '</script>"
    )
    assert "--decided" in refit_command(pruned, point())
    assert refit_command(replace(summary, origin=None), point()) == ""


def test_downloads_are_links_to_servers_only(summary):
    offered = replace(summary, download="https://example.org/v1/model?budget={budget}")
    assert download_link(offered, point()) == "https://example.org/v1/model?budget=2.5"
    assert download_link(summary, point()) == download_link(offered, point(budget=None)) == ""
    for wrong in (
        "javascript:alert({budget})",
        "//example.org/{budget}",
        "https://example.org",
        "data:{budget}",
    ):
        with pytest.raises(InvalidInputError, match="download must be a URL"):
            ReportOptions(download=wrong)
    assert ReportOptions(download="/v1/model/{budget}").download
