"""Prices alone and together, as sources."""

from __future__ import annotations

import pytest

from budgetprune import InvalidInputError
from budgetprune.datasets.prices import Price, published_costs


def _total(costs, names, bought):
    """What is paid for some of the features."""
    table = costs.resolve(len(names))
    sources = {
        source
        for k, name in enumerate(names)
        if name in bought
        for source in table.needs[table.needs_start[k] : table.needs_start[k + 1]].tolist()
    }
    return sum(table.price[source] for source in sources)


PRICES = {
    "a": Price(5.0, 3.0, "g"),
    "b": Price(6.0, 4.0, "g"),
    "c": Price(1.0, 1.0),
    "d": Price(9.0, 0.0, "g"),
}


@pytest.mark.parametrize(
    ("bought", "total"),
    [("a", 5), ("b", 6), ("ab", 9), ("c", 1), ("ac", 6), ("d", 6), ("ad", 6), ("bd", 10), ("abcd", 10)],
)
def test_first_of_a_group_pays_in_full(bought, total):
    costs = published_costs(PRICES, derived={"d": ("a", "c")})
    assert _total(costs, list(PRICES), set(bought)) == pytest.approx(total)


def test_names_of_groups():
    costs = published_costs({"a": Price(5.0, 3.0, "g")}, group_names={"g": "blood draw"})
    assert costs.resolve(1).source_names == ("a", "blood draw")


@pytest.mark.parametrize(
    ("prices", "derived", "what"),
    [
        ({"a": Price(3.0, 5.0, "g")}, {}, "'a' costs 5.0 together with others but 3.0 alone"),
        ({"a": Price(5.0, 3.0, "g"), "b": Price(5.0, 4.0, "g")}, {}, r"'b' saves 1\.0, others save 2\.0"),
        ({"a": Price(5.0, 3.0)}, {}, "'a' has two prices, but no group"),
        ({"a": Price(1.0, 1.0)}, {"a": ("b",)}, "no price for 'b'"),
    ],
)
def test_prices_that_make_no_sense(prices, derived, what):
    with pytest.raises(InvalidInputError, match=what):
        published_costs(prices, derived=derived)
