"""Display of the stages at which rows of a staged model stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from budgetprune.errors import InvalidInputError
from budgetprune.plotting.axes import axes_or_new, draw_paired_bars
from budgetprune.plotting.plots import INK
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
        pairs: dict[str, tuple[str, Any]] = {
            "reached": ("reach the stage", [100 * stage.reached for stage in self.stages]),
            "stops": ("stop there", [100 * stage.stops for stage in self.stages]),
        }
        self.bars_ = draw_paired_bars(
            ax, [_label(stage) for stage in self.stages], pairs, bar, first_on_top=True
        )
        ax.set_xlabel("share of the rows (%)", color=INK)
        cost = sum(stage.stops * stage.cost for stage in self.stages)
        ax.set_title(f"average cost {cost:.4g}", loc="left", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(stage: StageShares) -> str:
    """Return the sources of a stage and their price."""
    if not stage.sources:
        return "nothing bought"
    more = len(stage.sources) - N_NAMED
    names = ", ".join(stage.sources[:N_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{names}  ({stage.price:g})"
