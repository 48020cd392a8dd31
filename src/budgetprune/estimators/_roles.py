"""Honest rows: who may see which rows, and how the rows that choose are used twice without cheating.

========  ==================================================================================================
T         training rows grow the trees
V         validation rows count costs, and make choices by cross-fitting: each half is judged by what the
          other half (and T) has made
T and V   refit the leaves once everything is chosen
========  ==================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from budgetprune.errors import InvalidInputError

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with what belongs to them; `weight` and `qid` (the query a document belongs to) are optional."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    qid: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Index) -> LabelledRows:
        """Only some of the rows."""
        return LabelledRows(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.qid is None else self.qid[rows],
        )

    def drawn(self, share: float, random: np.random.RandomState, *, by_class: bool) -> Index:
        """Draw a share of the rows: of each class alike, or whole queries."""
        if self.qid is not None:
            queries, query = np.unique(self.qid, return_inverse=True)
            chosen = random.permutation(queries.size)[: round(share * queries.size)]
            return np.flatnonzero(np.isin(query, chosen))
        group = np.unique(self.y, return_inverse=True)[1] if by_class else np.zeros(len(self), dtype=np.intp)
        # Each class gives its share of rows, rounded down, so that no class is drawn completely; what
        # rounding leaves over is drawn from all that are left.
        order = random.permutation(len(self))
        order = order[np.argsort(group[order], kind="stable")]
        size = np.bincount(group)
        rank = np.arange(len(self)) - np.repeat(np.cumsum(size) - size, size)
        is_drawn = rank < np.repeat(np.floor(share * size), size)
        # The first of a class always stays.
        spare = np.flatnonzero(~is_drawn & (rank < np.repeat(size, size) - 1))
        missing = max(0, round(share * len(self)) - int(is_drawn.sum()))
        is_drawn[random.permutation(spare)[:missing]] = True
        return np.sort(order[is_drawn])


def divide(
    rows: LabelledRows, share: Any, random: np.random.RandomState, *, by_class: bool
) -> tuple[LabelledRows, LabelledRows]:
    """Divide rows into T and V; `share` goes to V."""
    if not isinstance(share, float | int | np.number) or not 0 < share < 1:
        raise InvalidInputError(f"validation_fraction must be a number between 0 and 1, not {share!r}.")
    chosen = rows.drawn(float(share), random, by_class=by_class)
    left = np.setdiff1d(np.arange(len(rows)), chosen)
    if not chosen.size or not left.size:
        kind = "queries" if rows.qid is not None else "rows"
        raise InvalidInputError(
            f"n_samples={len(rows)}: too few {kind} to keep {share:.0%} of them for validation; "
            "give more, or pass X_val and y_val to fit."
        )
    return rows.take(left), rows.take(chosen)


def halves(
    rows: LabelledRows, random: np.random.RandomState, *, by_class: bool
) -> Iterator[tuple[Index, Index]]:
    """Cut rows in two, and give each half in turn as the one that makes and the one that judges."""
    one = rows.drawn(0.5, random, by_class=by_class)
    other = np.setdiff1d(np.arange(len(rows)), one)
    yield one, other
    yield other, one
