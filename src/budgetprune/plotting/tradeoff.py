"""Display of score or error against cost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.path import PruningPath
from budgetprune.plotting.axes import axes_or_new
from budgetprune.plotting.plots import INK, RED, tidy
from budgetprune.selection import evenly_spaced
from budgetprune.staged import BudgetClassifier, BudgetRegressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One colour per curve.
COLOURS = (RED, "#1f6fb4", "#2b8a3e", "#7048e8", "#e8590c", "#0b7285")


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of one trade-off curve.

    Attributes
    ----------
    cost, value : float64 arrays of shape (n_points,)
        Average cost of a prediction, and its score or error.
    unpruned : (cost, value) or None
        The unpruned forest.
    chosen : (cost, value) or None
        The chosen point.
    """

    cost: NDArray[np.float64]
    value: NDArray[np.float64]
    unpruned: tuple[float, float] | None = None
    chosen: tuple[float, float] | None = None


class TradeoffDisplay:
    """Display of score or error against cost, to choose a budget.

    Create it with `from_estimator` or `from_paths`.

    Parameters
    ----------
    curves : mapping from names to Curve
    value_name, cost_name : str
        Axis labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of matplotlib Line2D, by the names of the curves
    """

    def __init__(
        self,
        curves: Mapping[str, Curve],
        *,
        value_name: str = "score",
        cost_name: str = "average cost of a prediction",
    ) -> None:
        if not curves:
            raise InvalidInputError("there is nothing to show; give at least one curve.")
        self.curves = dict(curves)
        self.value_name = value_name
        self.cost_name = cost_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_points: int = 10,
        name: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Plot the trade-off of a fitted estimator over its budgets.

        Parameters
        ----------
        estimator : BudgetClassifier, BudgetRegressor, BudgetPruneClassifier or BudgetPruneRegressor, fitted
        X, y : array-like, optional
            Evaluation data. If given, `n_points` budgets are evaluated on it with `with_budget`, which is
            slow for pruned models because their leaves are refitted. If None, the estimator's cross-fitted
            `tradeoff_` is plotted.
        n_points : int, default=10
        name : str, optional
            Label of the curve. Default: class name of the estimator.
        ax, **line : see `plot`
        """
        check_is_fitted(estimator)
        if (X is None) != (y is None):
            raise InvalidInputError("X and y belong together; pass both, or neither.")
        tradeoff = estimator.tradeoff_
        if X is None:
            k = _chosen_point(estimator)
            curve = Curve(
                tradeoff.cost, tradeoff.score, chosen=(float(tradeoff.cost[k]), float(tradeoff.score[k]))
            )
        else:
            budgets = tradeoff.cost[evenly_spaced(tradeoff.cost, n_points)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BudgetWarning)  # the last point may acquire nothing
                others = [_on_rows(estimator.with_budget(float(budget)), X, y) for budget in budgets]
            cost, score = np.array(others, dtype=np.float64).T
            curve = Curve(cost, score, chosen=_on_rows(estimator, X, y))
        display = cls(
            {name or type(estimator).__name__: curve},
            value_name=_score_name(estimator),
            cost_name=_cost_name(estimator),
        )
        return display.plot(ax, **line)

    @classmethod
    def from_paths(
        cls,
        paths: Mapping[str, PruningPath],
        *,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Plot paths: average error of the trees against average full cost.

        Error and cost are those of each path's problem. Paths are comparable if their problems have the same
        error estimate and the same rows.

        Parameters
        ----------
        paths : mapping from names to PruningPath
        ax, **line : see `plot`
        """
        for name, path in paths.items():
            if not isinstance(path, PruningPath):
                raise InvalidInputError(f"{name!r} is a {type(path).__name__}, but must be a PruningPath.")
        curves = {
            name: Curve(path.cost, path.error, (path.unpruned.cost, path.unpruned.error))
            for name, path in paths.items()
        }
        display = cls(
            curves, value_name="average error of the trees", cost_name="average full cost of a prediction"
        )
        return display.plot(ax, **line)

    def plot(self, ax: Axes | None = None, **line: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: axes of a new figure.
        **line
            Passed to `Axes.plot`, e.g. ``linestyle="--"``.
        """
        ax = axes_or_new(ax)
        self.lines_ = {}
        for k, (name, curve) in enumerate(self.curves.items()):
            style: dict[str, Any] = {"linewidth": 2.0, "marker": "o", "markersize": 3.5}
            style["color"] = COLOURS[k % len(COLOURS)]
            (self.lines_[name],) = ax.plot(curve.cost, curve.value, label=name, **style | line)
            colour = self.lines_[name].get_color()
            if curve.unpruned is not None:
                ax.plot(*curve.unpruned, "*", color=colour, markersize=13, label=f"{name}, unpruned")
            if curve.chosen is not None:
                ring: dict[str, Any] = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 2}
                ax.plot(*curve.chosen, "o", markeredgecolor=colour, label=f"{name}, chosen", **ring)
        ax.set(xlabel=self.cost_name, ylabel=self.value_name)
        ax.xaxis.label.set_color(INK)
        ax.yaxis.label.set_color(INK)
        ax.grid(color="#e9ecef", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.legend(frameon=False)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _on_rows(estimator: Any, X: Any, y: Any) -> tuple[float, float]:
    return float(estimator.acquisition_cost(X).mean()), float(estimator.score(X, y))


def _is_staged(estimator: Any) -> bool:
    return isinstance(estimator, BudgetClassifier | BudgetRegressor)


def _chosen_point(estimator: Any) -> int:
    """Return the index of the trade-off point in use."""
    if _is_staged(estimator):
        return int(estimator.model_.point)
    return int(np.abs(estimator.tradeoff_.lam - estimator.lambda_).argmin())


def _cost_name(estimator: Any) -> str:
    counting = "" if _is_staged(estimator) else f"{estimator.counting} "
    return f"average {counting}cost of a prediction"


def _score_name(estimator: Any) -> str:
    if estimator.scoring is not None:
        return estimator.scoring if isinstance(estimator.scoring, str) else "score"
    return "accuracy" if hasattr(estimator, "classes_") else "R²"
