"""Curves of score against average cost, with error bars, as in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from budgetprune.plotting.plots import INK, tidy
from budgetprune_experiments.experiment import Record
from budgetprune_experiments.records import MeanCurve, by_method, mean_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Red is reserved for our methods.
PAPER_RED, DARK_RED, ORANGE_RED, CRIMSON, ROSE = "#e03131", "#8c1c13", "#f76707", "#c2255c", "#f06595"
GREY, NAVY, BLUE, SKY, GREEN = "#868e96", "#12308a", "#3b78e7", "#4dabf7", "#2b8a3e"
TEAL, VIOLET, BROWN, BLACK = "#0c8599", "#9c36b5", "#8d6e63", "#343a40"
LIME, INDIGO, MAROON = "#74b816", "#5f3dc4", "#5c0011"


@dataclass(frozen=True)
class LineStyle:
    """Line style of a method; ours are drawn last, on top of the others."""

    colour: str
    marker: str = "o"
    line: str = "-"
    width: float = 1.4


# Style of our main method in every figure: the darkest red and the widest line.
STAGED_STYLE = LineStyle(MAROON, "s", width=2.8)


def draw_curves(
    axes: Axes,
    records: Sequence[Record],
    styles: Mapping[str, LineStyle],
    *,
    score_name: str | None = None,
    cost_name: str = "average feature cost",
    by_ratio: bool = False,
    limits: tuple[float, float] | None = None,
    error_every: int = 1,
) -> None:
    """Draw the mean curve of each method that has a line style and records, in the order of styles.

    Parameters
    ----------
    axes : matplotlib's Axes
    records : curve records, see `budgetprune_experiments.records`
    styles : by name of method
    score_name : str, optional
        Label of the score axis. None: scores are accuracies, and errors are drawn in percent.
    cost_name : str
        Label of the cost axis.
    by_ratio : bool
        Whether the cost axis is logarithmic.
    limits : (float, float), optional
        Range of the score axis; by default from `score_limits`.
    error_every : int
        An error bar is drawn at every n-th point.
    """
    as_error = score_name is None
    grouped = by_method(records)
    shown: dict[str, MeanCurve] = {
        name: mean_curve(grouped[name], by_ratio=by_ratio) for name in styles if name in grouped
    }
    for name, curve in shown.items():
        style = styles[name]
        y = 100 * (1 - curve.score) if as_error else curve.score
        scale = 100.0 if as_error else 1.0
        axes.errorbar(
            curve.cost,
            y,
            yerr=None if curve.score_spread is None else scale * curve.score_spread,
            xerr=curve.cost_spread,
            errorevery=error_every,
            label=name,
            color=style.colour,
            marker=style.marker,
            linestyle="none" if curve.is_point else style.line,
            linewidth=style.width,
            markersize=9 if curve.is_point else 4,
            elinewidth=0.9,
            capsize=2,
            alpha=0.95,
        )
    axes.set_xlabel(cost_name, color=INK)
    axes.set_ylabel("test error (%)" if score_name is None else score_name, color=INK)
    if by_ratio:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_ylim(limits or score_limits(shown.values(), as_error=as_error))
    axes.grid(color="#e9ecef", linewidth=0.8)
    axes.set_axisbelow(True)
    tidy(axes)


def score_limits(curves: Iterable[MeanCurve], *, as_error: bool) -> tuple[float, float]:
    """Limits of the score axis that show the differences between methods; tiny budgets are cut off."""
    scores = [curve.score for curve in curves]
    best = max(score.max() for score in scores)
    # Most methods are visible within this distance of their best score.
    worst = min(best - 0.02, float(np.median([np.median(score) for score in scores])) - 0.08)
    worst = max(worst, min(score.min() for score in scores))
    margin = max(0.04 * (best - worst), 1e-3)  # on few rows, all may have the same score
    if as_error:
        return 100 * (1 - best - margin), 100 * (1 - worst + margin)
    return worst - margin, best + margin
