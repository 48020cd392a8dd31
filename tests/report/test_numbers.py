"""Formats of numbers."""

from __future__ import annotations

import pytest

from budgetprune.report.numbers import amount, joined, nice, plain, several, share

pytestmark = pytest.mark.nojit


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
    assert (plain(3.0), plain(2.5), plain(1200), plain(2e50)) == ("3", "2.5", "1,200", "2e+50")
    assert [share(x) for x in (0, 0.001, 0.25, 0.999, 1)] == [
        "0 %",
        "under 1 %",
        "25 %",
        "over 99 %",
        "100 %",
    ]
    assert (several(1, "row"), several(1200, "row")) == ("1 row", "1,200 rows")
    assert (joined(["a"]), joined(["a", "b", "c"])) == ("a", "a, b and c")
    assert [nice(x) for x in (0.35, 1.2, 2.4, 30, 51)] == [0.5, 2, 2.5, 50, 100]
