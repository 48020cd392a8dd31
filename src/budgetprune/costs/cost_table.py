"""Costs of one feature space as arrays: prices of sources, and the sources that each feature needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs.price_lists import PRICE_RANGE, is_price
from budgetprune.errors import InvalidInputError

# Tolerance for rounding when sums of prices are compared with a budget.
ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class PricedSource:
    """A source with its price, or a feature that needs no source.

    Attributes
    ----------
    name : str
    price : float
    features : tuple of str
        Features that need it.
    """

    name: str
    price: float
    features: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CostTable:
    """Sources needed by each feature, and their prices, as arrays for kernels.

    Made by `FeatureCosts.resolve` for one feature space.

    Attributes
    ----------
    price : ndarray of float64, shape (n_sources,)
        Price of each source, paid once per example (c_k in the paper).
    source_names : tuple of str
        One distinct name per source.
    needs_start : ndarray of int64, shape (n_features + 1,)
        Feature k needs the sources ``needs[needs_start[k]:needs_start[k + 1]]``.
    needs : ndarray of int32
        Sources by number; sorted and distinct within a feature. A free feature has none.
    """

    price: NDArray[np.float64]
    source_names: tuple[str, ...]
    needs_start: NDArray[np.int64]
    needs: NDArray[np.int32]

    @property
    def n_sources(self) -> int:
        """Number of sources, including those that no feature needs."""
        return len(self.price)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.needs_start) - 1

    @property
    def price_alone(self) -> NDArray[np.float64]:
        """Cost of each feature alone: the sum over the sources it needs, of shape (n_features,)."""
        feature = np.repeat(np.arange(self.n_features), np.diff(self.needs_start))
        needed = self.price[self.needs]
        return np.asarray(np.bincount(feature, weights=needed, minlength=self.n_features), dtype=np.float64)

    def available(self, has: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask of the features whose sources are all available, given a mask of available sources."""
        lacks = np.append(0, np.cumsum(~has[self.needs]))
        return np.asarray(lacks[self.needs_start[1:]] == lacks[self.needs_start[:-1]])

    def needed_by(self, features: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the sources that any of the features needs."""
        is_asked = np.zeros(self.n_features, dtype=np.bool_)
        is_asked[features] = True
        needed = np.zeros(self.n_sources, dtype=np.bool_)
        needed[self.needs[np.repeat(is_asked, np.diff(self.needs_start))]] = True
        return needed

    def total(self, acquired: ArrayLike) -> NDArray[np.float64]:
        """Total cost of each example.

        Parameters
        ----------
        acquired : array-like of bool, shape (n_rows, n_sources)
            True where the row acquired the source (w_ki in the paper).

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        mask = np.asarray(acquired, dtype=bool)
        if mask.ndim != 2 or mask.shape[1] != self.n_sources:
            raise InvalidInputError(
                f"acquired has shape {mask.shape}, but must have one row per example and "
                f"one column for each of the {self.n_sources} sources"
            )
        # Unlike `@`, einsum makes no float copy of the mask, which is eight times its size.
        total: NDArray[np.float64] = np.einsum("is,s->i", mask, self.price)
        return total


def check_cost_table(table: CostTable, n_features: int) -> None:
    """Raise InvalidInputError unless the table is valid: indices in range, prices valid.

    Parameters
    ----------
    table : CostTable
        From a file, for example; a table made by `FeatureCosts.resolve` is always valid.
    n_features : int
        Expected number of features.
    """
    price, start, needs, names = table.price, table.needs_start, table.needs, table.source_names
    one_dimensional = price.ndim == start.ndim == needs.ndim == 1
    _require(one_dimensional, "price, needs_start and needs must be one-dimensional")
    _require(bool(np.all(np.isfinite(price) & (price >= 0))), "prices must be finite, and not negative")
    _require(all(map(is_price, price.tolist())), f"prices must be 0 or {PRICE_RANGE}")
    _require(
        len(names) == price.size and all(isinstance(name, str) for name in names),
        f"source_names must name all {price.size} sources",
    )
    _require(len(set(names)) == len(names), "names of sources must differ from each other")
    _require(
        start.size == n_features + 1, f"needs_start must have an entry for each of {n_features} features"
    )
    _require(
        bool(start[0] == 0 and np.all(start[1:] >= start[:-1]) and start[-1] == needs.size),
        "needs_start must begin with 0, never decrease, and end at the length of needs",
    )
    _require(
        bool(np.all((needs >= 0) & (needs < price.size))),
        f"needs must be numbers of sources, below {price.size}",
    )
    is_next_feature = np.isin(np.arange(1, needs.size), start)
    _require(
        bool(np.all((needs[1:] > needs[:-1]) | is_next_feature)), "needs must increase within each feature"
    )


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidInputError(f"this is not a table of costs: {what}.")
