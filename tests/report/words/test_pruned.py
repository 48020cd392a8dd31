"""Sentences about a pruned model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from budgetprune.report.summary.outcome import SourceShare
from budgetprune.report.summary.pruned import Change, ExpectedPoint, Prediction
from budgetprune.report.words import pruned_headline
from budgetprune.report.words.pruned import acquired, change, ending, refit_note, verdict

from ..handmade import NO_CHANGE, OURS, REGRESSION, TERMS, WHOLE, outcome, point
from ..models import summary_of


def test_verdict_of_the_unpruned_ensemble():
    """It is not compared with itself."""
    whole = point(outcome(cost=7.0, score=0.9), kind="unpruned")
    assert verdict(TERMS, whole, "full") == (
        "The whole forest costs 7.00 EUR per prediction, if a row buys all sources on its paths, and gets 9 "
        "of 10 rows right (90.0 %)."
    )
    stopped = replace(whole, decided=OURS)
    assert "71 % less than all sources on the paths (7.00)" in verdict(TERMS, stopped, "decided")


def test_acquired_sources():
    assert acquired(TERMS, OURS) == (
        "A row buys 1.5 features on average; the whole forest buys 3. The highest costs are those of a "
        "(50 %) and b (50 %). It never buys c."
    )
    one = replace(WHOLE, n_acquired=1.0)
    free = outcome(top_sources=(), n_acquired=1.0, dropped=(), n_dropped=0, reference=one)
    assert acquired(TERMS, free) == "A row buys 1 feature on average; the whole forest buys 1."
    assert "buys 1 source on" in acquired(REGRESSION, free)
    many = outcome(dropped=("c", "d", "e"), n_dropped=5)
    assert acquired(TERMS, many).endswith("It never buys c, d, e and 2 more.")


def more(effect, cost=2.0):
    return change(TERMS, effect, cost, is_more=True)


def less(effect, cost=2.0):
    return change(TERMS, effect, cost, is_more=False)


def test_changes():
    added = (SourceShare("b", 0.25),)
    within = Change(2.2, 5, True, 2.1, 0.01, 0.005, 0.002, added)
    assert more(within) == (
        "A budget of 2.20 EUR selects a point that costs 2.10 EUR, 5 % more, and is 1.0 point better on "
        "these rows (random error ± 1.0 point). It adds b (25 % of the rows). Expected from validation rows: "
        "a gain of 0.2 points."
    )
    beyond = Change(2.2, 5, False, 3.0, 0.0, 0.0, 0.5)
    assert more(beyond) == (
        "That selects no other point. The next point costs 3.00 EUR, 50 % more, and is as good on these rows."
    )
    smaller = Change(1.8, 3, True, 1.0, -0.04, 0.01, 0.0, added)
    assert "4.0 points worse" in less(smaller)
    assert "It drops b" in less(smaller)
    assert "Expected from validation rows: no difference" in less(smaller)
    assert more(NO_CHANGE, 0.0) == "This is the most expensive point."
    assert less(NO_CHANGE, 0.0) == "No point is that cheap."
    from_nothing = Change(0.0, 3, False, 3.0, 0.3, 0.1, None)
    assert "The next point costs 3.00 EUR, and is 30.0" in more(from_nothing, 0.0)


def test_changes_of_a_refitted_model():
    smaller = Change(1.8, 3, True, 1.0, -0.04, 0.01, 0.0)
    refitted = less(replace(smaller, gained_to_refitted=-0.05))
    assert refitted.startswith(
        "A budget of 1.80 EUR selects a point that costs 1.00 EUR, 50 % less, and is 5.0 points worse than "
        "your model, whose leaves are refitted. With leaves as grown on both sides, it is 4.0 points "
        "worse on these rows (random error ± 2.0 points)."
    )
    assert "leaves" not in less(replace(smaller, gained_to_refitted=-0.04))
    assert "as good as your model" in less(replace(smaller, gained_to_refitted=0.0))
    beyond = Change(2.2, 5, False, 3.0, 0.0, 0.0, 0.5, gained_to_refitted=0.01)
    assert "both sides, it is as good on these rows." in more(beyond)


def headline(counting="full", task="classification", cost=2.0, score=0.8, n_splits=3, **changes):
    """Headline of a model; the unpruned ensemble has a score of 0.9 and costs 7, or 5 until decided."""
    summary = summary_of("cancer")
    whole = replace(
        point(outcome(cost=7.0, score=0.9), kind="unpruned"), decided=outcome(cost=5.0, score=0.9)
    )
    points = (point(outcome(cost=cost, score=score, **changes), n_splits=n_splits), whole)
    name = "accuracy" if task == "classification" else "R²"
    about = {"unit": "EUR", "counting": counting, "task": task, "score_name": name}
    return pruned_headline(replace(summary, points=points, delivered=0, **about))


def test_headlines_compare_like_with_like():
    """Decided cost with decided cost, and full cost with full cost."""
    assert headline("decided") == (
        "Your model costs 2.00 EUR per prediction, stopping as soon as the answer is certain, and reaches an "
        "accuracy of 80.0 %. The whole forest, counted in the same way, costs 5.00 EUR and reaches 90.0 %. "
        "So pruning saves 60 % of the cost, and 10.0 points are lost. With all sources on a row's paths, the "
        "whole forest costs 7.00 EUR."
    )
    assert headline() == (
        "Your model costs 2.00 EUR per prediction if a row buys all sources on its paths, and reaches an "
        "accuracy of 80.0 %. The whole forest, counted in the same way, costs 7.00 EUR and reaches 90.0 %. "
        "So pruning saves 71 % of the cost, and 10.0 points are lost."
    )
    assert headline(cost=7.0, score=0.9).endswith("reaches 90.0 %.")
    assert headline(score=0.9).endswith("no accuracy is lost.")
    assert headline(task="regression").endswith("0.100 of R² is lost.")
    assert headline(score=1.0).endswith("points are gained.")


def test_headline_of_a_constant():
    assert headline(cost=0.0, n_splits=0, only_answer="no") == (
        "Your model is a constant: it uses no feature, costs nothing and predicts no for every row. Its "
        "accuracy is 80.0 %. The whole forest, counted in the same way, costs 7.00 EUR and reaches 90.0 %."
    )
    assert "It predicts no for all of these rows, as a constant would." in headline(only_answer="no")


@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_points_are_compared_in_the_same_way(name):
    summary = summary_of(name)
    for each in summary.points:
        for counting in ("full", "decided"):
            shown, whole = each.outcome(counting), summary.points[-1].outcome(counting)
            assert (shown.reference.cost, shown.reference.score) == (whole.cost, whole.score)
    first = summary.points[0]
    assert first.n_splits == 0
    assert verdict(TERMS, first, "decided").startswith("This model is a constant: it uses no feature")


def test_the_effect_of_refitted_leaves_is_explained():
    """The validation line has refitted leaves, the dots on test rows have not."""
    summary = summary_of("cancer")
    low, high = (
        point(outcome(score=0.6, cost=3.2, score_error=0.01), expected=ExpectedPoint(3.0, None, score))
        for score in (0.61, 0.8)
    )
    changes = {"is_refitted": True, "unit": "EUR"}
    assert refit_note(replace(summary, points=(low, high), **changes)) == (
        "Dots have leaf values as grown; the dotted line has refitted leaves, as your model has. It is up to "
        "20.0 points higher, at a cost of 3.20 EUR."
    )
    same = replace(high, full=replace(high.full, only_answer="no"))
    assert refit_note(replace(summary, points=(same,), **changes)).endswith(
        "1 dot predicts the same for all rows as long as the leaves are not refitted."
    )
    assert refit_note(replace(summary, points=(low,), **changes)) == ""
    assert refit_note(replace(summary, points=(high,), is_refitted=False)) == ""
    assert refit_note(replace(summary, points=(point(),))) == ""


@pytest.mark.parametrize("reason", ["certain", "slack", "complete", "max_cost", "waiting"])
def test_endings(reason):
    stopped = Prediction("yes", True, 2.0, 5.0, reason, None, 1, (0,), (), (0.0,), (1.0,), (0.5,))
    assert ending(TERMS, stopped).endswith(". All sources on the row's paths would cost 5.00 EUR.")
    assert "asked for" not in ending(TERMS, replace(stopped, full_cost=2.0))
