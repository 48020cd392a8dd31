"""Curves of grouped costs: shares of the full cost, and prices as settings."""

from __future__ import annotations

from budgetprune_experiments import Options, find_experiment
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED


def curve(method, points, **more):
    return [
        {"method": method, "seed": 0, "test_cost": cost, "test_score": score, "seconds_tuning": 1.0}
        | {"n_train": 5, "n_validation": 5, "n_test": 5, "setting": str(cost)}
        | more
        for cost, score in points
    ]


def test_the_claim_is_a_share_of_the_full_cost():
    records = [
        *curve(UNPRUNED, [(200.0, 0.95)]),
        *curve(OURS_PAPER, [(1.0, 0.10), (100.0, 0.96), (200.0, 0.96)]),
        *curve("CCP", [(10.0, 0.5), (200.0, 0.9)]),
    ]
    table = find_experiment("figure1d")._claim(records)
    # Along the line from (1, 0.10) to (100, 0.96), 0.95 is reached at 98.8 of 200, and 0.945 at 98.3.
    assert table.rows == [[OURS_PAPER, "49%", "49%"], ["CCP", None, None]]
    assert "28%" in table.note


def test_prices_are_settings(tmp_path):
    # Parts that were made with other prices do not fit together.
    options = Options(quick=True, out=tmp_path)
    experiment = find_experiment("figure1d")
    prices = experiment.settings(options)["prices"]
    assert [price["descriptor"] for price in prices] == [
        each.name for each in experiment.data(options).descriptors
    ]
    assert experiment.settings(options)["prices"] == prices
    assert find_experiment("subset-size").settings(options)["√K"]["prices"] == prices
    assert "of Scene15" in experiment.substitute(options)
