"""The recommended budget."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report import summarise, to_json
from budgetprune.report.aggregate.recommend import knee, recommend, standard_error_of_score

from ..models import PRUNED_NAMES, case, summary_of
from ..staged_cases import STAGED_CASES

COST = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
SCORE = np.array([0.5, 0.7, 0.8, 0.86, 0.88, 0.881])


def chosen(score, n_rows=400, cost=COST, **changes):
    settings = {"is_accuracy": True, "has_constant": True} | changes
    return recommend(cost, np.asarray(score), n_rows, **settings)


def test_the_knee_is_where_the_slope_falls_below_the_average():
    """The end is 4, the cheapest within one standard error of .881; 2 lies farthest above the line to it."""
    k, reason = chosen(SCORE, n_rows=100)
    assert (k, reason.rule) == (2, "knee")
    assert reason.standard_error == pytest.approx(np.sqrt(0.881 * 0.119 / 100))
    before = (reason.score - reason.cheapest_score) / (reason.cost - reason.cheapest_cost)
    after = (reason.best_score - reason.score) / (reason.best_cost - reason.cost)
    assert before > after
    assert (reason.best_score, reason.best_cost) == (0.881, 16)


def test_expensive_points_that_are_not_clearly_better_do_not_count():
    """A longer tail does not move the knee."""
    longer, flat = np.append(COST, 1000.0), np.append(SCORE, 0.8811)
    assert chosen(flat, cost=longer)[0] == chosen(SCORE)[0]


def test_a_curve_without_a_knee():
    k, reason = chosen([0.5, 0.5, 0.5, 0.5, 0.6, 0.9])
    assert (k, reason.rule) == (5, "one standard error")
    assert knee(np.zeros(1), np.zeros(1)) == 0
    assert knee(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])) == 2


def test_a_constant_is_not_recommended():
    score = [0.5, 0.51, 0.51, 0.52, 0.52, 0.52]
    assert chosen(score)[0] is None
    assert chosen(score)[1].rule == "constant"
    assert chosen(score, has_constant=False)[0] == 0  # the cheapest model uses free features


def test_standard_errors():
    assert standard_error_of_score(0.8, 100, is_accuracy=True) == pytest.approx(0.04)
    assert standard_error_of_score(-0.5, 100, is_accuracy=False) == 0
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        x, noise = rng.normal(size=(2, 200))
        y = x + noise
        found.append(1 - noise.var() / y.var())
    assert standard_error_of_score(0.5, 200, is_accuracy=False) == pytest.approx(np.std(found), rel=0.15)


@pytest.mark.parametrize("name", [*PRUNED_NAMES, *STAGED_CASES])
def test_recommendations_do_not_depend_on_test_rows(name):
    found, summary = case(name), summary_of(name)
    half = slice(None, None, 2)
    X = found.X[half] if isinstance(found.X, np.ndarray) else found.X.iloc[half]
    other = summarise(found.model, X, found.y[half], n_examples=0)
    reason, point = (each.recommendation for each in (summary, other)), summary.recommendation
    assert point is None or next(reason).score == next(reason).score
    if point is not None and point.point is not None:
        mine, theirs = summary.points[point.point], other.points[other.recommendation.point]
        assert (mine.lam, mine.budget) == (theirs.lam, theirs.budget)
        assert mine.budget in to_json(summary)["recommendation"] or mine.kind == "delivered"


def test_the_lowest_total_is_recommended_if_errors_have_a_price():
    summary = summary_of("three classes")
    best = case("three classes").staged.best
    assert (summary.recommendation.rule, summary.recommendation.point) == ("lowest total", best)
    assert "lowest total cost of sources and errors" in to_json(summary)["recommendation"]
    assert summary_of("boosted").recommendation is None
