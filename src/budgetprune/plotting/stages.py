"""Display of the stages at which rows of a staged model stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.plotting.axes import axes_or_new
from budgetprune.plotting.plots import GREY, INK, RED, tidy
from budgetprune.staged import StageShares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Sources named per stage; the rest is counted.
N_NAMED = 3


class StagesDisplay:
    """Display of a staged model's stages: sources, rows that reach each stage, rows that stop.

    Create it with `from_estimator`.

    Parameters
    ----------
    stages : sequence of StageShares

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : dict of matplotlib BarContainer: "reached" and "stops"
    """

    def __init__(self, stages: Sequence[StageShares]) -> None:
        if not stages:
            raise InvalidInputError("there is nothing to show; give at least one stage.")
        self.stages = tuple(stages)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **bar: Any) -> Self:
        """Plot the stages of a fitted estimator at its budget.

        Parameters
        ----------
        estimator : BudgetClassifier or BudgetRegressor, fitted
        ax, **bar : see `plot`
        """
        if not hasattr(type(estimator), "stages_"):
            raise InvalidInputError(
                f"{type(estimator).__name__} has no stages; give a BudgetClassifier or a BudgetRegressor."
            )
        return cls(estimator.stages_).plot(ax, **bar)

    def plot(self, ax: Axes | None = None, **bar: Any) -> Self:
        """Draw a pair of bars for each stage, the first stage on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: axes of a new figure.
        **bar
            Passed to `Axes.barh`.
        """
        ax = axes_or_new(ax)
        place = np.arange(len(self.stages))[::-1]
        self.bars_ = {}
        for name, label, colour, height in (
            ("reached", "reach the stage", GREY, 0.8),
            ("stops", "stop there", RED, 0.42),
        ):
            style: dict[str, Any] = {"color": colour, "height": height, "label": label}
            width = [100 * getattr(stage, name) for stage in self.stages]
            self.bars_[name] = ax.barh(place, width, **style | bar)
        ax.set_yticks(place, [_label(stage) for stage in self.stages], fontsize=9)
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0, 100), ylim=(-0.6, len(self.stages) - 0.4))
        ax.set_xlabel("share of the rows (%)", color=INK)
        cost = sum(stage.stops * stage.cost for stage in self.stages)
        ax.set_title(f"average cost {cost:.4g}", loc="left", fontsize=10)
        ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # bars fill the axes
        ax.grid(axis="x", color="#e9ecef", linewidth=0.8)
        ax.set_axisbelow(True)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(stage: StageShares) -> str:
    """Return the sources of a stage and their price."""
    if not stage.sources:
        return "nothing bought"
    more = len(stage.sources) - N_NAMED
    names = ", ".join(stage.sources[:N_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{names}  ({stage.price:g})"
