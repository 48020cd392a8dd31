"""Inputs of the grower: rows, prices of features, and the criterion of splits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable

# Measures of `SplitCriterion`; kernels have their own names for these numbers.
ENTROPY, PAIRS, SQUARED = 0, 1, 2

_NO_LABEL = np.empty(0, dtype=np.int32)
_NO_TARGET = np.empty(0)


class SplitCriterion(NamedTuple):
    """Split criterion and stopping conditions.

    Attributes
    ----------
    measure : int
        `ENTROPY` or `PAIRS` of the classes, or `SQUARED` loss of a constant for the target.
    is_expected : bool
        Whether children count by their weighted mean instead of their maximum. (Squared loss is additive.)
    threshold : float
        Tolerated impurity: the a of `pairs`, and the least entropy that counts.
    cost_weight : float
        With `SQUARED`: loss, per unit of weight in the tree, per unit of cost.
    max_features, max_depth, min_samples_leaf : int
    """

    measure: int
    is_expected: bool
    threshold: float
    cost_weight: float
    max_features: int
    max_depth: int
    min_samples_leaf: int


class Prices(NamedTuple):
    """Sources of features and their prices, as in `CostTable`, and the sources already paid for."""

    needs_start: NDArray[np.int64]
    needs: NDArray[np.int32]
    price: NDArray[np.float64]
    is_paid: NDArray[np.bool_]

    @classmethod
    def of(cls, costs: CostTable) -> Prices:
        """Make prices with no source paid for."""
        return cls(costs.needs_start, costs.needs, costs.price, np.zeros(costs.n_sources, dtype=np.bool_))


class TreeSample(NamedTuple):
    """Rows that a tree is grown on.

    Attributes
    ----------
    rows : int32 array
        Indices of the rows, in order.
    label : int32 array of shape (n_rows,)
        Class of each row, for impurities; empty for squared loss.
    weighted_target : float64 array of shape (n_rows,)
        Target times weight, for squared loss; empty for impurities.
    weight : float64 array of shape (n_rows,)
        Above 0 where the tree is grown.
    n_sums : int
        Number of classes; 2 for squared loss.

    All rows have an entry, including those that the tree is not grown on.
    """

    rows: NDArray[np.int32]
    label: NDArray[np.int32]
    weighted_target: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_sums: int

    @classmethod
    def of_classes(cls, label: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int) -> TreeSample:
        """Make a sample of rows with classes; rows of weight 0 are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), label, _NO_TARGET, weight, int(n_classes))

    @classmethod
    def of_target(cls, target: NDArray[np.float64], weight: NDArray[np.float64]) -> TreeSample:
        """Make a sample of rows with numeric targets; rows of weight 0 are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), _NO_LABEL, target * weight, weight, 2)
