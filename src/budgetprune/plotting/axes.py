"""Helpers for matplotlib axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from budgetprune.plotting.plots import GREY, RED, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new pyplot figure, like scikit-learn's displays."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'budgetprune[plot]'") from error
    if ax is not None:
        return ax
    made: Any = plt.subplots(layout="constrained")[1]
    return made  # type: ignore[no-any-return]


def draw_paired_bars(
    ax: Axes,
    labels: Sequence[str],
    pairs: Mapping[str, tuple[str, ArrayLike]],
    style: Mapping[str, Any],
    *,
    first_on_top: bool = False,
) -> dict[str, Any]:
    """Draw a wide grey bar and a narrow red bar for each label, in per cent.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of str
    pairs : mapping from names to (legend label, widths)
        The wide bars and the narrow bars.
    style : mapping
        Passed to `Axes.barh`.
    first_on_top : bool
        Whether the first label is at the top instead of the bottom.

    Returns
    -------
    bars : dict of matplotlib BarContainer, by name
    """
    place = np.arange(len(labels))[:: -1 if first_on_top else 1]
    bars = {}
    for (name, (label, width)), colour, height in zip(pairs.items(), (GREY, RED), (0.8, 0.42), strict=True):
        own: dict[str, Any] = {"color": colour, "height": height, "label": label}
        bars[name] = ax.barh(place, width, **own | dict(style))
    ax.set_yticks(place, labels, fontsize=9 if len(labels) <= 30 else 6)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 100), ylim=(-0.6, len(labels) - 0.4))
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # bars fill the axes
    ax.grid(axis="x", color="#e9ecef", linewidth=0.8)
    ax.set_axisbelow(True)
    tidy(ax)
    return bars
