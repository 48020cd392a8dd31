"""Pictures of trade-offs: what each budget buys. Needs the extra ``budgetprune[plot]``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.files import written_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BLUE, GREY, RED = "#22303c", "#1f6fb4", "#9aa7b3", "#d1495b"


@dataclass(frozen=True, eq=False)
class Curve:
    """Cost and error of the points of a model, counted on one set of rows.

    Attributes
    ----------
    name : str
        What the model is called.
    cost, error : float64 arrays of shape (n_points,)
        Average cost of a row, and share of wrong predictions.
    """

    name: str
    cost: NDArray[np.float64]
    error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Purchases:
    """What rows buy along a curve.

    Attributes
    ----------
    source_names : sequence of str
    price : float64 array of shape (n_sources,)
    share : float64 array of shape (n_points, n_sources)
        Share of the rows that acquire each source.
    """

    source_names: Sequence[str]
    price: NDArray[np.float64]
    share: NDArray[np.float64]


def save_trade_off(
    file: str | os.PathLike[str],
    curve: Curve,
    *,
    chosen: int,
    purchases: Purchases,
    beside: Curve,
    full: tuple[str, float, float],
    title: str,
    unit: str,
) -> None:
    """Draw error against cost, and below it what the chosen point buys, and write it as a PNG.

    Parameters
    ----------
    file : path of the PNG
    curve : Curve
        The model that counts.
    chosen : int
        The point of it that was picked.
    purchases : Purchases
        Of the points of `curve`.
    beside : Curve
        Another model, drawn in the background.
    full : name, cost and error of a model that buys everything
    title, unit : str
        What it is, and in what costs are counted.
    """
    figure = new_figure((9.5, 7.5))
    above, below = figure.subplots(2, 1, height_ratios=[3, 2])
    _draw_errors(above, curve, chosen, beside, full)
    above.set_xlabel(f"average cost of a prediction ({unit})")
    _draw_purchases(below, chosen, purchases)
    figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", color=INK)
    with written_atomically(file) as handle:
        figure.savefig(handle, format="png", dpi=150)


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure of some inches that draws into memory: no window system, no global state of pyplot."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'budgetprune[plot]'") from error
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _draw_errors(
    axes: Axes, curve: Curve, chosen: int, beside: Curve, full: tuple[str, float, float]
) -> None:
    for one, style in ((beside, _style(GREY, 1.2, 3)), (curve, _style(BLUE, 2.2, 5))):
        order = np.argsort(one.cost, kind="stable")
        axes.plot(one.cost[order], 100 * one.error[order], label=one.name, **style)
    name, full_cost, full_error = full
    axes.plot(full_cost, 100 * full_error, "D", color=INK, markersize=9, label=name)
    axes.axhline(100 * full_error, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    # Guessing may be many times worse than the full model; the interesting part should fill the picture.
    interesting = max(full_error, curve.error[chosen], curve.error.min() + 0.01)
    top = 100 * min(1.1 * curve.error.max(), 3.5 * interesting)
    cost, error = float(curve.cost[chosen]), 100 * float(curve.error[chosen])
    axes.plot(
        cost, error, "o", markersize=15, markerfacecolor="none", markeredgecolor=RED, markeredgewidth=2.2
    )
    axes.annotate(
        f"chosen: cost {cost:.1f}, error {error:.1f} %\n"
        f"{name}: cost {full_cost:.1f}, error {100 * full_error:.1f} %",
        (cost, error),
        xytext=(60 if 2 * cost < full_cost else -180, 110 if 2 * error < top else -60),
        textcoords="offset points",
        color=RED,
        fontsize=11,
        arrowprops={"arrowstyle": "-", "color": RED, "shrinkB": 9},
    )
    axes.set_ylabel("wrong predictions (%)")
    axes.set_ylim(0, top)
    axes.set_xlim(0, 1.03 * max(full_cost, curve.cost.max()))
    axes.legend(frameon=False, loc="upper right")
    tidy(axes)
    axes.grid(axis="y", color="#e6eaee")
    axes.set_axisbelow(True)


def _draw_purchases(axes: Axes, chosen: int, purchases: Purchases) -> None:
    """Draw a bar per source: the share of the rows that buy it; what most rows buy is on top."""
    share = purchases.share[chosen]
    order = np.lexsort((-purchases.price, share))
    axes.barh(np.arange(order.size), 100 * share[order], color=BLUE, height=0.7)
    axes.set_yticks(
        np.arange(order.size), [f"{purchases.source_names[s]}  ({purchases.price[s]:g})" for s in order]
    )
    axes.tick_params(axis="y", length=0)
    axes.set_title("what the chosen model buys (price)", loc="left", fontsize=11, color=INK)
    axes.set_xlabel("rows that buy it (%)")
    axes.set_xlim(0, 103)
    tidy(axes)
    axes.grid(axis="x", color="#e6eaee")
    axes.set_axisbelow(True)


def _style(color: str, width: float, marker: float) -> dict[str, Any]:
    return {"color": color, "linewidth": width, "marker": "o", "markersize": marker}


def tidy(axes: Axes) -> None:
    """Leave out lines that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
