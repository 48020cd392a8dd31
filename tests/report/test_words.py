"""Sentences say what the numbers say."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report.measure import Taken
from budgetprune.report.numbers import amount, joined, nice, plain, several, share
from budgetprune.report.summary import Change
from budgetprune.report.words import Language

PRICE = np.array([1.0, 2.0, 4.0])
WORDS = Language(
    score_name="accuracy",
    unit="EUR",
    noun="features",
    whole="the whole forest",
    source_names=("a", "b", "c"),
    class_names=("no", "yes"),
)
NUMBERS = Language(
    score_name="R²",
    unit="",
    noun="sources",
    whole="the whole ensemble",
    source_names=("a", "b", "c"),
    class_names=None,
)


def taken(quality, cost, shares=(1.0, 0.5, 0.0), undecided=0.0):
    quality, cost = np.asarray(quality, float), np.asarray(cost, float)
    return Taken(np.zeros(quality.size), quality, cost, np.array(shares), undecided)


WHOLE = taken([1] * 9 + [0], [7] * 10, (1, 1, 1))
OURS = taken([1] * 8 + [0] * 2, [1, 1, 1, 1, 1, 1, 1, 3, 3, 7])


def test_verdicts():
    words = WORDS.verdict("path", "full", OURS, WHOLE, -0.1, 0.1)
    assert words == (
        "It costs 2.00 EUR per prediction, 71 % less than the whole forest (7.00), and gets 8 of 10 rows "
        "right (80.0 %). That is 10.0 points worse than the whole forest, which chance alone can do on 10 "
        "rows (± 19.6 points)."
    )
    assert "more than chance does on 10 rows (± 2.0 points)" in WORDS.verdict(
        "path", "full", OURS, WHOLE, -0.1, 0.01
    )
    assert "1.0 point better" in WORDS.verdict("path", "full", OURS, WHOLE, 0.01, 0.01)
    assert "as good as the whole forest" in WORDS.verdict("path", "full", OURS, WHOLE, 0.0, 0.01)
    assert "as much as the whole forest" in WORDS.verdict("path", "full", WHOLE, WHOLE, 0.0, 0.0)
    assert "reaches an R² of 0.800. That is 0.100 of R² worse" in NUMBERS.verdict(
        "path", "full", OURS, WHOLE, -0.1, 0.2
    )


def test_the_whole_forest_is_not_compared_with_itself():
    assert WORDS.verdict("unpruned", "full", WHOLE, WHOLE, 0, 0) == (
        "The whole forest costs 7.00 EUR per prediction, if all is bought that its trees ask for, and gets 9 "
        "of 10 rows right (90.0 %)."
    )
    assert "71 % less than all that its trees ask for (7.00)" in WORDS.verdict(
        "unpruned", "decided", OURS, WHOLE, 0, 0
    )


def test_spreads():
    assert WORDS.spread(OURS) == "Half of the rows cost at most 1, nine in ten at most 3, the dearest 7."
    assert WORDS.spread(taken([1, 1], [2, 2])) == "Every row costs 2."
    assert WORDS.spread(taken([1] * 4, [1, 2, 2, 2])) == "At least half of the rows cost 2, none more."
    assert WORDS.spread(taken([1] * 4, [1, 1, 2, 2])) == "Half of the rows cost at most 1, none more than 2."
    few = taken([1] * 20, [1] * 19 + [9])
    assert WORDS.spread(few) == "Nine in ten rows cost at most 1, the dearest 9."
    assert "25 % cost nothing." in WORDS.spread(taken([1] * 4, [0, 1, 1, 2]))
    assert "10 % ran out of money" in WORDS.spread(taken([1] * 2, [0, 1], undecided=0.1))


def test_purchases():
    assert WORDS.bought(OURS, WHOLE, PRICE) == (
        "A row buys 1.5 features on average; the whole forest buys 3. Most of the money goes to a (50 %) and "
        "b (50 %). It never buys c."
    )
    assert "Most of" not in WORDS.bought(taken([1], [0], (0, 0, 0)), WHOLE, PRICE)


def test_mistakes():
    assert WORDS.wrong(OURS, ((7, 1), (1, 1)), None) == (
        "2 rows of 10 are wrong. The commonest mistake: no taken for yes, once."
    )
    assert "yes taken for no, twice" in WORDS.wrong(OURS, ((8, 0), (2, 0)), None)
    assert WORDS.wrong(taken([1, 1], [1, 1]), ((1, 0), (0, 1)), None) == "All 2 rows are right."
    assert "1 row of 2 is wrong" in WORDS.wrong(taken([1, 0], [1, 1]), ((1, 0), (1, 0)), None)
    assert NUMBERS.wrong(OURS, None, 41.23) == "Predictions are off by 41.2 on average."


def test_changes():
    more = Change(2.2, 5, True, 2.1, 0.01, 0.005, 0.002)
    bought = np.array([0.0, 0.25, 0.001])
    assert WORDS.change(more, 2.0, True, bought) == (
        "A budget of 2.20 EUR buys a point that costs 2.10 EUR, 5 % more, and is 1.0 point better on these "
        "rows (chance does ± 1.0 point). What it adds: b (25 % of the rows). Validation rows expected a gain "
        "of 0.2 points."
    )
    beyond = Change(2.2, 5, False, 3.0, 0.0, 0.0, 0.5)
    assert WORDS.change(beyond, 2.0, True, 0 * bought) == (
        "That buys nothing new. The next point costs 3.00 EUR, 50 % more, and is as good on these rows."
    )
    less = Change(1.8, 3, True, 1.0, -0.04, 0.01, 0.0)
    assert "4.0 points worse" in WORDS.change(less, 2.0, False, -bought)
    assert "What it drops: b" in WORDS.change(less, 2.0, False, -bought)
    assert "expected no difference" in WORDS.change(less, 2.0, False, -bought)
    refitted = WORDS.change(less, 2.0, False, -bought, -0.05)
    assert refitted.startswith(
        "A budget of 1.80 EUR buys a point that costs 1.00 EUR, 50 % less, and is 5.0 points worse than your "
        "model, whose leaves are refitted. With leaves as grown on both sides, it is 4.0 points worse on "
        "these rows (chance does ± 2.0 points)."
    )
    assert "leaves" not in WORDS.change(less, 2.0, False, -bought, -0.04)
    assert "as good as your model" in WORDS.change(less, 2.0, False, -bought, 0.0)
    assert "both sides, it is as good on these rows." in WORDS.change(beyond, 2.0, True, bought, 0.01)
    nothing = Change(0.0, None, False, 0.0, 0.0, 0.0, None)
    assert WORDS.change(nothing, 0.0, True, bought) == "This is the dearest point."
    assert WORDS.change(nothing, 0.0, False, bought) == "No point is as cheap as that."
    from_nothing = Change(0.0, 3, False, 3.0, 0.3, 0.1, None)
    assert "The next point costs 3.00 EUR, and is 30.0" in WORDS.change(from_nothing, 0.0, True, bought)


def test_one_of_anything():
    one = taken([1], [1], (1, 0, 0))
    assert "gets 1 of 1 row right" in WORDS.verdict("path", "full", one, one, 0.0, 0.0)
    assert "chance alone can do on 1 row (" in WORDS.verdict("path", "full", one, one, 0.1, 0.1)
    assert "more than chance does on 1 row (" in WORDS.verdict("path", "full", one, one, 0.1, 0.01)
    assert WORDS.wrong(one, ((1, 0), (0, 0)), None) == "The only row is right."
    assert WORDS.bought(one, one, PRICE).startswith(
        "A row buys 1 feature on average; the whole forest buys 1."
    )
    assert "buys 1 source on" in NUMBERS.bought(one, one, PRICE)


def test_headlines():
    assert WORDS.headline(OURS, WHOLE, "decided") == (
        "Your model pays 2.00 EUR per prediction, stopping as soon as the answer is certain, and reaches an "
        "accuracy of 80.0 %. The whole forest pays 7.00 EUR and reaches 90.0 %. So 71 % of the cost is "
        "saved, and 10.0 points are given up."
    )
    assert "stopping" not in WORDS.headline(OURS, WHOLE, "full")
    assert WORDS.headline(WHOLE, WHOLE, "full").endswith("reaches 90.0 %.")
    assert WORDS.headline(taken([1] * 9 + [0], [1] * 10), WHOLE, "full").endswith("nothing is given up.")
    assert NUMBERS.headline(OURS, WHOLE, "full").endswith("0.100 of R² is given up.")
    assert WORDS.headline(taken([1] * 10, [1] * 10), WHOLE, "full").endswith("points are gained on top.")


def test_endings():
    assert WORDS.ending("certain", 2, 5).endswith("All trees together would have asked for 5.00 EUR.")
    assert "asked for" not in WORDS.ending("complete", 5, 5)
    for reason in ("certain", "slack", "complete", "max_cost", "waiting"):
        assert WORDS.ending(reason, 1, 1).endswith(".")


@pytest.mark.parametrize(
    ("number", "words"),
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
def test_amounts(number, words):
    assert amount(number) == words


def test_other_numbers():
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
