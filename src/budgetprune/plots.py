"""Pictures of trade-offs: what each budget buys. Needs the extra ``budgetprune[plot]``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune._files import written_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BLUE, GREY, RED = "#22303c", "#1f6fb4", "#9aa7b3", "#d1495b"


@dataclass(frozen=True, eq=False)
class Curve:
    """Cost and error of the points of a path, counted on one set of rows.

    Attributes
    ----------
    rows : str
        What the rows are called.
    cost, error : float64 arrays of shape (n_points,)
        Average full cost of a row, and share of wrong predictions.
    unpruned_cost, unpruned_error : float
    """

    rows: str
    cost: NDArray[np.float64]
    error: NDArray[np.float64]
    unpruned_cost: float
    unpruned_error: float


@dataclass(frozen=True, eq=False)
class Purchases:
    """Who buys what along a path.

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
    beside: Curve | None = None,
    title: str,
    unit: str,
) -> None:
    """Draw error against cost, and below it which sources are still bought, and write it as a PNG.

    Parameters
    ----------
    file : path of the PNG
    curve : Curve
        The one that counts.
    chosen : int
        The point that was picked.
    purchases : Purchases
        On the rows of `curve`.
    beside : Curve, optional
        Another set of rows, drawn in the background.
    title, unit : str
        What it is, and in what costs are counted.
    """
    figure = new_figure((9.5, 7.5))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw_errors(above, curve, chosen, beside)
    _draw_purchases(below, curve, chosen, purchases)
    below.set_xlabel(f"average full cost of a prediction ({unit}; every source on the paths of all trees)")
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


def _draw_errors(axes: Axes, curve: Curve, chosen: int, beside: Curve | None) -> None:
    for one, style in ((beside, _style(GREY, 1.2, 3)), (curve, _style(BLUE, 2.2, 5))):
        if one is not None:
            axes.plot(one.cost, 100 * one.error, label=f"pruned, {one.rows} rows", **style)
            axes.plot(
                one.unpruned_cost,
                100 * one.unpruned_error,
                "D",
                color=style["color"],
                markersize=9,
                label=f"unpruned forest, {one.rows} rows",
            )
    axes.axhline(100 * curve.unpruned_error, color=BLUE, linewidth=0.8, linestyle=":", zorder=0)
    # Guessing may be many times worse than the forest; the interesting part should fill the picture.
    interesting = max(curve.unpruned_error, curve.error[chosen], curve.error.min() + 0.01)
    top = 100 * min(1.1 * curve.error.max(), 3.5 * interesting)
    if 100 * curve.error[-1] > top:
        leaves = curve.cost[100 * curve.error <= top].min()  # where the curve leaves the picture
        words = f"↑ {100 * curve.error[-1]:.0f} % at cost {curve.cost[-1]:.2g}"
        axes.text(leaves, 0.97 * top, f" {words}", color=BLUE, va="top")
    cost, error = curve.cost[chosen], 100 * curve.error[chosen]
    axes.plot(
        cost, error, "o", markersize=15, markerfacecolor="none", markeredgecolor=RED, markeredgewidth=2.2
    )
    axes.annotate(
        f"chosen: cost {cost:.1f}, error {error:.1f} %\n"
        f"unpruned: cost {curve.unpruned_cost:.1f}, error {100 * curve.unpruned_error:.1f} %",
        (cost, error),
        xytext=(20 if 2 * cost < curve.unpruned_cost else -180, 60 if 2 * error < top else -60),
        textcoords="offset points",
        color=RED,
        fontsize=11,
        arrowprops={"arrowstyle": "-", "color": RED, "shrinkB": 9},
    )
    axes.set_ylabel("wrong predictions (%)")
    axes.set_ylim(0, top)
    axes.set_xlim(0, 1.03 * max(curve.unpruned_cost, curve.cost[0]))
    axes.legend(frameon=False, loc="upper right")
    tidy(axes)
    axes.grid(axis="y", color="#e6eaee")
    axes.set_axisbelow(True)


def _draw_purchases(axes: Axes, curve: Curve, chosen: int, purchases: Purchases) -> None:
    """Draw one band per source, as dark as the share of rows that buy it; what lasts longest is on top."""
    order = np.argsort(purchases.share.sum(axis=0), kind="stable")
    # Costs fall along the path; a point's column reaches half-way to its neighbours.
    cost, first = np.unique(curve.cost, return_index=True)
    share = purchases.share[first][:, order]
    edges = np.concatenate([cost[:1], (cost[1:] + cost[:-1]) / 2, cost[-1:]])
    mesh = axes.pcolormesh(
        edges, np.arange(order.size + 1), share.T, cmap="Blues", vmin=0, vmax=1, edgecolors="none"
    )
    axes.axvline(curve.cost[chosen], color=RED, linewidth=2)
    labels = [f"{purchases.source_names[s]}  ({purchases.price[s]:g})" for s in order]
    axes.set_yticks(np.arange(order.size) + 0.5, labels)
    axes.tick_params(axis="y", length=0)
    axes.set_title("what is bought (price)", loc="left", fontsize=11, color=INK)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.01, aspect=12, ticks=[0, 0.5, 1])
    bar.set_label(f"share of {curve.rows} rows")
    bar.outline.set_visible(False)
    tidy(axes)


def _style(color: str, width: float, marker: float) -> dict[str, Any]:
    return {"color": color, "linewidth": width, "marker": "o", "markersize": marker}


def tidy(axes: Axes) -> None:
    """Leave out lines that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
