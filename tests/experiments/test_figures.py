"""Figures of curves."""

from __future__ import annotations

from budgetprune.plotting.plots import new_figure
from budgetprune_experiments.figures import draw_curves
from budgetprune_experiments.methods import LINE_STYLES


def test_curves_are_drawn_with_error_bars_between_sensible_limits():
    records = [
        {"method": name, "seed": seed, "test_cost": cost, "test_score": score + 0.001 * seed}
        for seed in range(3)
        for name, points in {
            "CCP": [(1, 0.5), (5, 0.8), (10, 0.9), (15, 0.905)],
            "unpruned forest": [(20, 0.9)],
            "nobody knows": [(1, 0.1)],
        }.items()
        for cost, score in points
    ]
    figure = new_figure((4, 3))
    axes = figure.subplots()
    draw_curves(axes, records, LINE_STYLES)
    assert [bars.get_label() for bars in axes.containers] == ["unpruned forest", "CCP"]
    assert all(bars.has_yerr for bars in axes.containers)
    low, high = axes.get_ylim()
    assert low < 100 * (1 - 0.907) < 10 < high < 50  # guessing need not be seen
    assert axes.get_xlim()[0] == 0
