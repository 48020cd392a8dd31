"""Formats of numbers."""

from __future__ import annotations

import pytest

from budgetprune.report.numbers import amount, joined, nice, pluralize, share, trimmed_amount

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0421, "0.0421"),
        (2, "2.00"),
        (2.314, "2.31"),
        (12.34, "12.3"),
        (1234.5, "1,234"),
        (1e-6, "0.000001"),
        (1.2345e-9, "1.23e-09"),
        (-2e50, "-2.00e+50"),
    ],
)
def test_amounts(number, text):
    assert amount(number) == text


def test_other_formats():
    assert (trimmed_amount(3.0), trimmed_amount(2.5), trimmed_amount(1200), trimmed_amount(2e50)) == (
        "3",
        "2.5",
        "1,200",
        "2e+50",
    )
    assert [share(x) for x in (0, 0.001, 0.25, 0.999, 1)] == [
        "0 %",
        "under 1 %",
        "25 %",
        "over 99 %",
        "100 %",
    ]
    assert (pluralize(1, "row"), pluralize(1200, "row")) == ("1 row", "1,200 rows")
    assert (joined(["a"]), joined(["a", "b", "c"])) == ("a", "a, b and c")
    assert [nice(x) for x in (0.35, 1.2, 2.4, 30, 51)] == [0.5, 2, 2.5, 50, 100]
