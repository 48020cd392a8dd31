"""Plots of cost-error trade-offs. Needs the extra ``budgetprune[plot]``."""

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
class NamedCurve:
    """Cost and error of the points of a model on one set of rows.

    Attributes
    ----------
    name : str
        Name of the model.
    cost, error : float64 arrays of shape (n_points,)
        Average cost per row, and error rate.
    """

    name: str
    cost: NDArray[np.float64]
    error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Purchases:
    """Sources acquired at each point of a curve.

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
    curve: NamedCurve,
    *,
    chosen: int,
    purchases: Purchases,
    beside: NamedCurve,
    full: tuple[str, float, float],
    title: str,
    unit: str,
) -> None:
    """Plot error against cost, and the sources acquired at the chosen point, to a PNG file.

    Parameters
    ----------
    file : path of the PNG
    curve : NamedCurve
        The model of interest.
    chosen : int
        Index of the chosen point.
    purchases : Purchases
        Sources acquired at the points of `curve`.
    beside : NamedCurve
        Model to compare with, drawn in the background.
    full : tuple of (name, cost, error)
        A model that acquires all sources.
    title, unit : str
        Title of the figure, and unit of cost.
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
    """Create an in-memory figure, without a window system or pyplot's global state. Size in inches."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'budgetprune[plot]'") from error
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _draw_errors(
    axes: Axes, curve: NamedCurve, chosen: int, beside: NamedCurve, full: tuple[str, float, float]
) -> None:
    for one, style in ((beside, _style(GREY, 1.2, 3)), (curve, _style(BLUE, 2.2, 5))):
        order = np.argsort(one.cost, kind="stable")
        axes.plot(one.cost[order], 100 * one.error[order], label=one.name, **style)
    name, full_cost, full_error = full
    axes.plot(full_cost, 100 * full_error, "D", color=INK, markersize=9, label=name)
    axes.axhline(100 * full_error, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    # Cut off errors far above the full model's, so that the relevant range fills the plot.
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
    """Draw the share of rows that acquire each source, most frequent on top."""
    share = purchases.share[chosen]
    order = np.lexsort((-purchases.price, share))
    axes.barh(np.arange(order.size), 100 * share[order], color=BLUE, height=0.7)
    axes.set_yticks(
        np.arange(order.size), [f"{purchases.source_names[s]}  ({purchases.price[s]:g})" for s in order]
    )
    axes.tick_params(axis="y", length=0)
    axes.set_title("sources of the chosen model (price)", loc="left", fontsize=11, color=INK)
    axes.set_xlabel("rows that buy it (%)")
    axes.set_xlim(0, 103)
    tidy(axes)
    axes.grid(axis="x", color="#e6eaee")
    axes.set_axisbelow(True)


def _style(color: str, width: float, marker: float) -> dict[str, Any]:
    return {"color": color, "linewidth": width, "marker": "o", "markersize": marker}


def tidy(axes: Axes) -> None:
    """Hide the top and right spines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
