"""Sentences about cost, score and errors."""

from __future__ import annotations

import pytest

from budgetprune.report.words.outcomes import compared_with_reference, constant, errors, spread

from ..handmade import OURS, REGRESSION, TERMS, outcome

pytestmark = pytest.mark.uncompiled


def compared(shown=OURS, terms=TERMS, n_rows=10):
    return compared_with_reference(terms, shown, n_rows)


def test_comparison_with_the_reference():
    assert compared() == (
        "It costs 2.00 EUR per prediction, 71 % less than the whole forest (7.00), and gets 8 of 10 rows "
        "right (80.0 %). That is 10.0 points worse than the whole forest, which is within the random error "
        "on 10 rows (± 19.6 points)."
    )
    assert "more than the random error on 10 rows (± 2.0 points)" in compared(outcome(gained_error=0.01))
    assert "1.0 point better" in compared(outcome(gained=0.01))
    assert "as good as the whole forest" in compared(outcome(gained=0.0))
    assert "as much as the whole forest" in compared(outcome(cost=7.0))
    assert "100 % more than the whole forest (7.00)" in compared(outcome(cost=14.0))
    assert "13.0 times as much as the whole forest (7.00)" in compared(outcome(cost=91.0))
    assert "reaches an R² of 0.800. That is 0.100 of R² worse" in compared(terms=REGRESSION)


def test_the_same_answer_to_all_rows():
    """A model that answers as a constant would is named as such."""
    same = outcome(only_answer="no")
    assert compared(same).endswith(" It predicts no for all of these rows, as a constant would.")
    assert "constant" not in compared(same, n_rows=1)
    assert constant("Your model", same) == (
        "Your model is a constant: it uses no feature, costs nothing and predicts no for every row."
    )


def test_comparison_on_one_row():
    one = outcome(score=1.0, gained=0.1, gained_error=0.1)
    assert "gets 1 of 1 row right" in compared(one, n_rows=1)
    assert "is within the random error on 1 row (" in compared(one, n_rows=1)
    assert "more than the random error on 1 row (" in compared(outcome(gained_error=0.01), n_rows=1)


def test_spread_of_cost():
    assert spread(OURS) == "Half of the rows cost at most 1, nine in ten at most 3, the most expensive row 7."
    same = {"smallest": 2.0, "median": 2.0, "ninetieth": 2.0, "largest": 2.0}
    assert spread(outcome(**same)) == "Every row costs 2."
    assert spread(outcome(**same | {"smallest": 1.0})) == "At least half of the rows cost 2, none more."
    few = outcome(**same | {"smallest": 1.0, "median": 1.0})
    assert spread(few) == "Half of the rows cost at most 1, none more than 2."
    outlier = outcome(median=1.0, ninetieth=1.0, largest=9.0)
    assert spread(outlier) == "Nine in ten rows cost at most 1, the most expensive row 9."
    assert "25 % cost nothing." in spread(outcome(free=0.25))
    assert "10 % reached the cost limit" in spread(outcome(undecided=0.1))


def test_errors():
    assert errors(TERMS, OURS, 10) == (
        "2 rows of 10 are wrong. The most frequent mistake: no predicted as yes, once."
    )
    assert "yes predicted as no, twice" in errors(TERMS, outcome(confusion=((8, 0), (2, 0))), 10)
    right = outcome(n_wrong=0, confusion=((1, 0), (0, 1)))
    assert errors(TERMS, right, 2) == "All 2 rows are right."
    assert errors(TERMS, right, 1) == "The only row is right."
    assert "1 row of 2 is wrong" in errors(TERMS, outcome(n_wrong=1, confusion=((1, 0), (1, 0))), 2)
    numbers = outcome(confusion=None, n_wrong=None, mean_error=41.23)
    assert errors(REGRESSION, numbers, 10) == "Predictions are off by 41.2 on average."
