"""Helper for matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
