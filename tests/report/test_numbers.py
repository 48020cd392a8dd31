"""Formats of numbers."""

from __future__ import annotations

import pytest

from budgetprune.report.numbers import (
    amount,
    joined,
    nice,
    pluralize,
    share,
    short_amount,
    significant,
    trimmed_amount,
)

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0421, "0.0421"),
        (2, "2.00"),
        (2.314, "2.31"),
        (12.34, "12.34"),
        (15.51, "15.51"),
        (1234.5, "1,234.50"),
        (123456.7, "123,457"),
        (1e-6, "0.000001"),
        (1.2345e-9, "1.23e-09"),
        (-2e50, "-2.00e+50"),
    ],
)
def test_amounts(number, text):
    assert amount(number) == text


def test_costs_keep_their_cents():
    assert [trimmed_amount(price) for price in (15.51, 20.68, 20.5, 1234.56)] == [
        "15.51",
        "20.68",
        "20.5",
        "1,234.56",
    ]
    assert [short_amount(cost) for cost in (20.68, 1234.5678, 0.000123456, 0.0)] == [
        20.68,
        1234.568,
        0.00012346,
        0.0,
    ]


def test_other_numbers_have_three_digits():
    assert [significant(x) for x in (0, 0.0421, 12.34, 1234.5)] == ["0", "0.0421", "12.3", "1,234"]


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
