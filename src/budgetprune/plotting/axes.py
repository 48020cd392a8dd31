"""Axes to plot on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure of pyplot's, as scikit-learn's displays do."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'budgetprune[plot]'") from error
    if ax is not None:
        return ax
    made: Any = plt.subplots(layout="constrained")[1]
    return made  # type: ignore[no-any-return]
