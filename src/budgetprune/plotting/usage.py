"""Display of acquired sources before and after pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.plotting.axes import axes_or_new, draw_paired_bars
from budgetprune.plotting.plots import INK
from budgetprune.problem import sources_used

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FeatureUsageDisplay:
    """Display of the share of rows that acquire each source, before and after pruning.

    Create it with `from_estimator` or `from_forests`.

    Parameters
    ----------
    source_names : sequence of str
    price : array-like of shape (n_sources,)
    before, after : array-like of shape (n_sources,)
        Share of the rows that acquire each source.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : dict of matplotlib BarContainer: "before" and "after"
    """

    def __init__(
        self, source_names: ArrayLike, price: ArrayLike, before: ArrayLike, after: ArrayLike
    ) -> None:
        self.source_names = [str(name) for name in np.asarray(source_names)]
        self.price, self.before, self.after = (
            np.asarray(each, dtype=np.float64) for each in (price, before, after)
        )
        for name in ("price", "before", "after"):
            if getattr(self, name).shape != (len(self.source_names),):
                raise InvalidInputError(f"{name} must have one entry for each of the source_names.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, n_sources: int | None = 25, ax: Axes | None = None, **bar: Any
    ) -> Self:
        """Compare a fitted estimator with its unpruned ensemble.

        Parameters
        ----------
        estimator : BudgetPruneClassifier or BudgetPruneRegressor, fitted
            With ``counting="decided"``, only sources acquired before the decision count.
        X : rows whose sources are counted
        n_sources, ax, **bar : see `plot`
        """
        check_is_fitted(estimator)
        prices = estimator._prices
        before = sources_used(estimator.path_.forest, prices, X).mean(axis=0)
        after = estimator.sources_used(X).mean(axis=0)
        return cls(prices.source_names, prices.price, before, after).plot(ax, n_sources=n_sources, **bar)

    @classmethod
    def from_forests(
        cls,
        before: Forest,
        after: Forest,
        X: Any,
        *,
        costs: Any = None,
        n_sources: int | None = 25,
        ax: Axes | None = None,
        **bar: Any,
    ) -> Self:
        """Compare two forests: every source on the paths of all trees.

        Parameters
        ----------
        before, after : Forest
        X : rows whose sources are counted
        costs : FeatureCosts, or anything that `FeatureCosts.of` takes
            None means 1 per feature.
        n_sources, ax, **bar : see `plot`
        """
        prices = FeatureCosts.of(costs).resolve(before.n_features, before.feature_names)
        shares = [sources_used(forest, prices, X).mean(axis=0) for forest in (before, after)]
        return cls(prices.source_names, prices.price, *shares).plot(ax, n_sources=n_sources, **bar)

    def plot(self, ax: Axes | None = None, *, n_sources: int | None = 25, **bar: Any) -> Self:
        """Draw a pair of bars for each source, highest total cost after pruning on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: axes of a new figure.
        n_sources : int or None, default=25
            Maximum number of sources shown; None shows all.
        **bar
            Passed to `Axes.barh`.
        """
        ax = axes_or_new(ax)
        # Ties in cost after pruning, zero above all, are broken by the cost before.
        order = np.lexsort((self.before * self.price, self.after * self.price))
        order = order[-n_sources:] if n_sources else order
        pairs: dict[str, tuple[str, Any]] = {
            "before": ("before pruning", 100 * self.before[order]),
            "after": ("after pruning", 100 * self.after[order]),
        }
        labels = [f"{self.source_names[s]}  ({self.price[s]:g})" for s in order]
        self.bars_ = draw_paired_bars(ax, labels, pairs, bar)
        ax.set_xlabel("share of examples that acquire it (%)", color=INK)
        spent = [float(share @ self.price) for share in (self.before, self.after)]
        ax.set_title(f"average cost {spent[0]:.4g} before, {spent[1]:.4g} after", loc="left", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self
