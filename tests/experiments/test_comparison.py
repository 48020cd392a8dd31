"""Comparisons: what all methods share, and what is done before any clock runs."""

from __future__ import annotations

from pathlib import Path

from budgetprune.plotting.plots import new_figure
from budgetprune_experiments.experiment import Options
from budgetprune_experiments.figure1a import Figure1a
from budgetprune_experiments.methods import UNPRUNED


def test_panels_that_share_an_axis_hide_no_method():
    records = [
        {"method": name, "seed": 0, "test_cost": cost, "test_score": score, "seconds_tuning": 1.0}
        for name, best in (("cost-weighted L1", 0.99), ("CEGB, lazy", 0.95), (UNPRUNED, 0.94))
        for cost, score in ((1.0, 0.7), (5.0, 0.9), (9.0, best))
    ]
    figure = new_figure((8, 4))
    Figure1a().draw(records, Options(out=Path()), figure)
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert low < 1 < 5 < high
