"""Effects of a slightly larger or smaller budget."""

from __future__ import annotations

import re

import numpy as np
import pytest

from budgetprune.report import summarise
from budgetprune.report.aggregate.changes import neighbour
from budgetprune.report.numbers import amount
from budgetprune.report.render import render
from budgetprune.report.words.pruned import change, pruned_terms

from ..models import PRUNED_NAMES as NAMES
from ..models import case, summary_of, wine

COST = np.array([10.0, 9.0, 8.5, 8.5, 4.0, 0.0])  # from expensive to cheap


@pytest.mark.parametrize(
    ("anchor", "factor", "expected"),
    [
        (3, 1.1, (1, True)),  # the most expensive within 9.35
        (4, 1.1, (3, False)),  # nothing within 4.4: the next one
        (0, 1.1, (None, False)),
        (None, 1.1, (None, False)),
        (None, 0.9, (1, True)),  # at most 9 of the 10 that the unpruned one costs
        (2, 0.9, (4, True)),
        (5, 0.9, (None, False)),
        (5, 1.1, (4, False)),
    ],
)
def test_neighbours(anchor, factor, expected):
    base = 10.0 if anchor is None else COST[anchor]
    assert neighbour(COST, anchor, base, factor) == expected


def sentence(summary, point, counting, direction):
    outcome = point.outcome(counting)
    return change(
        pruned_terms(summary), getattr(outcome, direction), outcome.cost, is_more=direction == "more"
    )


def changes(summary):
    for point in summary.points:
        for counting in ("full", "decided"):
            shown = getattr(point, counting)
            for name in ("more", "less"):
                found = getattr(shown, name)
                if found.point is not None:
                    there = getattr(summary.points[found.point], counting)
                    yield point, counting, name, shown, found, there


@pytest.mark.parametrize("name", NAMES)
def test_changes_agree_with_the_points(name):
    """A reader has the cost and the score of the point that is shown, and then those of the other."""
    summary = summary_of(name)
    own, path = summary.points[summary.delivered], case(name).model.path
    is_refitted = not np.array_equal(case(name).predictor.forest.value, path.at(lam=own.lam).forest.value)
    for point, counting, direction, shown, effect, there in changes(summary):
        words = sentence(summary, point, counting, direction)
        assert there.cost == pytest.approx(effect.cost, rel=1e-4)
        assert (there.cost > shown.cost) == (direction == "more")
        if effect.is_within:
            assert there.cost <= effect.budget * (1 + 1e-4)
        if shown.cost:
            told = float(re.search(r"(\d+) % (more|less)|under 1 %", words)[1] or 0)
            assert told == pytest.approx(100 * abs(there.cost / shown.cost - 1), abs=0.51)
        if "leaves" in words:
            assert point is own
            assert is_refitted
        if "as good" in words.partition(". With leaves")[0]:
            assert there.score == shown.score
        else:
            told = re.search(r"is (?:slightly|([\d.]+) (?:points?|of R²)) (?:better|worse)", words)[1]
            unit, room = (100, 0.051) if summary.task == "classification" else (1, 6e-4)
            assert float(told or 0) == pytest.approx(unit * abs(there.score - shown.score), abs=room)


def test_expected_changes():
    summary = summary_of("cancer")
    n_told = 0
    for point, counting, direction, _, effect, _ in changes(summary):
        if effect.expected is None:
            continue
        here, other = point.expected, summary.points[effect.point].expected
        assert effect.expected == pytest.approx(other.score - here.score, rel=1e-2, abs=2e-4)
        n_told += "Expected from validation rows" in sentence(summary, point, counting, direction)
    assert n_told
    assert summary.points[0].full.less.point is summary.points[0].full.less.expected is None


def test_ten_per_cent_more():
    """The effect is the difference of two points with leaves as grown."""
    summary = summary_of("cancer")
    for position, point in enumerate(summary.points):
        for counting in ("full", "decided"):
            more = getattr(point, counting).more
            if more.point is None or point.kind != "path":
                continue
            there, here = getattr(summary.points[more.point], counting), getattr(point, counting)
            assert more.point > position
            assert there.cost == pytest.approx(more.cost, rel=1e-4)
            assert there.cost > here.cost
            assert more.is_within == (there.cost <= 1.1 * here.cost * (1 + 1e-4))
            assert more.gained == pytest.approx(there.score - here.score, abs=2e-5)


@pytest.mark.parametrize("unit", [2.0**-160, 2.0**160])
def test_prices_of_any_unit(unit):
    """The report is the same as for prices around 1, but for the unit."""
    scaled = wine(unit)
    summary, usual = summarise(scaled.model, scaled.X, scaled.y), summary_of("wine")
    assert amount(summary.points[0].full.cost) in render(summary)
    assert len(summary.points) == len(usual.points)
    for ours, theirs in zip(summary.points, usual.points, strict=True):
        assert ours.full.score == theirs.full.score
        assert ours.decided.cost / unit == pytest.approx(theirs.decided.cost, rel=1e-4)
        assert ours.full.largest / unit == pytest.approx(theirs.full.largest, rel=1e-4)
