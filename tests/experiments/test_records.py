"""Curves: what is beaten by nothing, and averages over seeds."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune_experiments.records import MeanCurve, by_method, least_cost_for, mean_curve, undominated


def record(seed, cost, score, method="m"):
    return {"method": method, "seed": seed, "test_cost": cost, "test_score": score}


@pytest.mark.parametrize("seed", range(20))
def test_undominated_is_what_no_other_point_beats(seed):
    random = np.random.default_rng(seed)
    cost, score = random.integers(0, 6, size=(2, 12)).astype(float)
    points = {(cost[k], score[k]) for k in undominated(cost, score)}
    expected = {
        (c, s)
        for c, s in zip(cost, score, strict=True)
        if not any(
            (other_c <= c and other_s > s) or (other_c < c and other_s >= s)
            for other_c, other_s in zip(cost, score, strict=True)
        )
    }
    assert points == expected
    chosen = undominated(cost, score)
    assert len(chosen) == len(points)  # of equal points, one
    assert np.all(np.diff(cost[chosen]) > 0)
    assert np.all(np.diff(score[chosen]) > 0)


def test_seeds_are_averaged_from_where_all_have_a_model():
    curve = mean_curve(
        [record(0, 3, 0.9), record(0, 1, 0.5), record(1, 2, 0.6), record(1, 4, 1.0), record(1, 3, 0.8)], 5
    )
    np.testing.assert_allclose(np.sqrt(curve.cost), np.linspace(2**0.5, 2, 5))
    assert (curve.cost[0], curve.cost[-1]) == (2, 4)
    is_common = curve.cost <= 3
    np.testing.assert_allclose(curve.score[is_common], 0.65 + 0.2 * (curve.cost[is_common] - 2))
    np.testing.assert_allclose(curve.score_spread[is_common], 0.1 / np.sqrt(2))
    score, spread = curve.at(2.25)
    assert score == pytest.approx(0.7)
    assert spread == pytest.approx(0.1 / np.sqrt(2))
    assert curve.at(1.9) is None
    assert curve.at(9.0) == (curve.score[-1], curve.score_spread[-1])


def test_more_money_buys_the_last_model_still():
    curve = mean_curve([record(0, 1, 0.5), record(0, 2, 0.7), record(1, 2, 0.6), record(1, 4, 1.0)], 2)
    np.testing.assert_allclose(curve.cost, [2, 4])
    np.testing.assert_allclose(curve.score, [(0.7 + 0.6) / 2, (0.7 + 1.0) / 2])


def test_costs_may_be_equally_far_apart_in_their_ratios():
    records = [record(0, 1, 0.0), record(0, 100, 0.99)]
    curve = mean_curve(records, 3, by_ratio=True)
    np.testing.assert_allclose(curve.cost, [1, 10, 100])
    np.testing.assert_allclose(curve.score, [0, 0.09, 0.99])  # between models by lot, as before


def test_seeds_without_a_common_cost_are_compared_by_their_dearest_points():
    records = [record(0, 5, 0.9), record(1, 1, 0.5), record(1, 3, 0.8), record(1, 5, 0.9)]
    curve = mean_curve(records)
    assert curve.is_point
    assert (curve.cost[0], curve.score[0]) == (5, pytest.approx(0.9))
    assert curve.score_spread == pytest.approx(0)


def test_points_that_buy_nothing_are_left_out_where_there_are_others():
    curve = mean_curve([record(0, 0, 0.1), record(0, 1, 0.5), record(0, 3, 0.9)], 2)
    np.testing.assert_allclose(curve.cost, [1, 3])
    guess = mean_curve([record(0, 0, 0.1)])
    assert guess.is_point
    assert guess.score == pytest.approx(0.1)


def test_one_seed_has_no_spread():
    curve = mean_curve([record(0, 1, 0.5), record(0, 3, 0.9)], 2)
    assert curve.score_spread is None
    assert curve.at(2.0) == (pytest.approx(0.7), None)


def test_single_points_are_averaged_as_points():
    curve = mean_curve([record(0, 10, 0.5), record(1, 12, 0.7)])
    assert curve.is_point
    assert (curve.cost[0], curve.score[0]) == (11, pytest.approx(0.6))
    assert curve.cost_spread[0] == pytest.approx(np.sqrt(2))
    assert curve.score_spread[0] == pytest.approx(0.1 * np.sqrt(2))


def test_least_cost_for_a_score():
    curve = MeanCurve(np.array([1.0, 2, 3]), np.array([0.5, 0.7, 0.6]), None)
    assert least_cost_for(curve, 0.4) == 1
    assert least_cost_for(curve, 0.6) == pytest.approx(1.5)
    assert least_cost_for(curve, 0.7) == pytest.approx(2)
    assert least_cost_for(curve, 0.71) is None


def test_records_of_each_method():
    records = [record(0, 1, 0.5, "b"), record(0, 1, 0.5, "a"), record(1, 1, 0.5, "b")]
    assert [(name, len(some)) for name, some in by_method(records).items()] == [("b", 2), ("a", 1)]
