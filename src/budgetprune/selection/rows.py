"""Rows and their roles during selection.

========  ==================================================================================================
T         training rows: the trees are trained on them
V         validation rows: costs are measured on them, and choices are made by cross-fitting: each half
          evaluates the prunings and refits that were built with the other half (and T)
T and V   leaves are refitted on both, after all choices
========  ==================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from budgetprune.errors import InvalidInputError
from budgetprune.selection.duplicates import number_duplicates

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with labels, and optionally a weight and a query id (`qid`, for ranking) of each row."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    qid: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Index) -> LabelledRows:
        """Select rows."""
        return LabelledRows(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.qid is None else self.qid[rows],
        )

    def with_queries(self, qid: NDArray[Any] | None) -> LabelledRows:
        """Return the same rows with query ids."""
        return replace(self, qid=qid)

    def with_weight(self) -> LabelledRows:
        """Select the rows whose weight is not zero."""
        if self.weight is None or self.weight.all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def drawn(
        self, share: float, random: np.random.RandomState, *, by_class: bool, all_classes_stay: bool = False
    ) -> Index:
        """Draw rows at random that have a given share of the weight, and return their indices.

        The share is the same in each class (`by_class`); queries are drawn whole. Copies of a row are drawn
        together. If `all_classes_stay`, at least one row of each class is not drawn.
        """
        unit = (
            number_duplicates(self.X, self.y)
            if self.qid is None
            else np.unique(self.qid, return_inverse=True)[1]
        )
        # Number the units in a random order.
        unit = random.permutation(unit.max() + 1)[unit]
        weight = np.bincount(unit, weights=self.weight).astype(np.float64)
        label = np.unique(self.y, return_inverse=True)[1] if by_class else np.zeros_like(unit)
        stratum = np.zeros(weight.size, dtype=np.intp)
        if self.qid is None:  # copies have the same label, documents of a query may not
            stratum[unit] = label
        # Units are sorted by the share of their stratum's weight up to their midpoint. So every prefix of the
        # order has about the same share of each stratum.
        position = np.empty(weight.size)
        for members in _members(stratum):
            position[members] = _midpoints(weight[members]) / weight[members].sum()
        last = np.zeros(label.max() + 1, dtype=np.intp)
        np.maximum.at(last, label, unit)
        if all_classes_stay:
            position[last] = np.inf
        order = np.argsort(position, kind="stable")
        is_drawn = np.empty(weight.size, dtype=np.bool_)
        is_drawn[order] = _midpoints(weight[order]) < share * weight.sum()
        is_drawn &= np.isfinite(position)
        return np.flatnonzero(is_drawn[unit])


def _members(group: Index) -> list[Index]:
    """Indices of the members of each group, in ascending order."""
    return np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])


def _midpoints(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cumulative weight at the midpoint of each unit."""
    return np.cumsum(weight) - weight / 2


def split_rows(
    rows: LabelledRows, share: float, random: np.random.RandomState, *, by_class: bool
) -> tuple[LabelledRows, LabelledRows]:
    """Divide rows into T and V: V gets the `share`, and T keeps rows of every class."""
    chosen = rows.drawn(share, random, by_class=by_class, all_classes_stay=True)
    if not chosen.size:
        kind = "queries" if rows.qid is not None else "rows"
        raise InvalidInputError(
            f"n_samples={len(rows)}: too few {kind} to keep {share:.0%} of them for validation and some of "
            "each class for training; give more, or pass X_val and y_val to fit."
        )
    return rows.take(_others(rows, chosen)), rows.take(chosen)


def halves(rows: LabelledRows, random: np.random.RandomState, *, by_class: bool) -> list[tuple[Index, Index]]:
    """Divide rows into two halves for cross-fitting: pairs of fitting rows and scoring rows.

    The list is empty if all rows are documents of one query, or copies of one row.
    """
    one = rows.drawn(0.5, random, by_class=by_class)
    other = _others(rows, one)
    return [(one, other), (other, one)] if one.size else []


def _others(rows: LabelledRows, chosen: Index) -> Index:
    return np.setdiff1d(np.arange(len(rows)), chosen)
