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
class Look:
    """Line style of a method; ours are drawn last, on top of the others."""

    colour: str
    marker: str = "o"
    line: str = "-"
    width: float = 1.4


# The same in every figure: the darkest red, the widest line.
STAGED_LOOK = Look(MAROON, "s", width=2.8)


def draw_curves(
    axes: Axes,
    records: Sequence[Record],
    looks: Mapping[str, Look],
    *,
    as_error: bool = True,
    score_name: str = "test error (%)",
    cost_name: str = "average feature cost",
    by_ratio: bool = False,
    limits: tuple[float, float] | None = None,
    error_every: int = 1,
) -> None:
    """Draw the mean curve of each method that has a look and records, in the order of looks.

    Parameters
    ----------
    axes : matplotlib's Axes
    records : curve records, see `budgetprune_experiments.records`
    looks : by name of method
    as_error : bool
        Draw 100 (1 - score) instead of the score.
    score_name, cost_name : labels of the axes
    by_ratio : bool
        Costs differ so much that their logarithms are drawn.
    limits : (float, float), optional
        Range of the score axis; by default from `interesting`.
    error_every : int
        Every how many points an error bar is drawn.
    """
    grouped = by_method(records)
    shown: dict[str, MeanCurve] = {
        name: mean_curve(grouped[name], by_ratio=by_ratio) for name in looks if name in grouped
    }
    for name, curve in shown.items():
        look = looks[name]
        y = 100 * (1 - curve.score) if as_error else curve.score
        scale = 100.0 if as_error else 1.0
        axes.errorbar(
            curve.cost,
            y,
            yerr=None if curve.score_spread is None else scale * curve.score_spread,
            xerr=curve.cost_spread,
            errorevery=error_every,
            label=name,
            color=look.colour,
            marker=look.marker,
            linestyle="none" if curve.is_point else look.line,
            linewidth=look.width,
            markersize=9 if curve.is_point else 4,
            elinewidth=0.9,
            capsize=2,
            alpha=0.95,
        )
    axes.set_xlabel(cost_name, color=INK)
    axes.set_ylabel(score_name, color=INK)
    if by_ratio:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_ylim(limits or interesting(shown.values(), as_error=as_error))
    axes.grid(color="#e9ecef", linewidth=0.8)
    axes.set_axisbelow(True)
    tidy(axes)


def interesting(curves: Iterable[MeanCurve], *, as_error: bool) -> tuple[float, float]:
    """Limits of the score axis that show the differences of methods, without tiny budgets."""
    scores = [curve.score for curve in curves]
    best = max(score.max() for score in scores)
    # Most methods are visible within this distance of their best score.
    worst = min(best - 0.02, float(np.median([np.median(score) for score in scores])) - 0.08)
    worst = max(worst, min(score.min() for score in scores))
    margin = max(0.04 * (best - worst), 1e-3)  # on few rows, all may have the same score
    if as_error:
        return 100 * (1 - best - margin), 100 * (1 - worst + margin)
    return worst - margin, best + margin
