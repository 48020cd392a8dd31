"""Folds of cross-fitting: pairs of training and test row numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
# Number of out-of-fold rows that is enough to learn stopping rules.
ENOUGH_ROWS = 20_000


def even_folds(
    random: np.random.RandomState, n_folds: int, strata: NDArray[np.intp], qid: NDArray[Any] | None
) -> list[Fold]:
    """Divide rows into folds, with an equal share of each stratum in each fold, even of small strata.

    With queries, all rows of a query are in the same fold, and strata are ignored.
    """
    n_rows = len(strata)
    order = random.permutation(n_rows)
    number = np.empty(n_rows, dtype=np.intp)
    if qid is None:
        order = order[np.argsort(strata[order], kind="stable")]
        n_folds = min(n_folds, n_rows)
        number[order] = np.arange(n_rows) % n_folds
    else:
        queries, query = np.unique(qid, return_inverse=True)
        if queries.size < 2:
            raise InvalidInputError("qid must have at least two queries: each is in one fold only.")
        n_folds = min(n_folds, queries.size)
        number = (random.permutation(queries.size) % n_folds)[query]
    return [
        (random.permutation(np.flatnonzero(number != f)), np.flatnonzero(number == f)) for f in range(n_folds)
    ]


def enough_folds(folds: list[Fold]) -> list[Fold]:
    """Return the first folds, with enough rows to learn stopping rules; the others are only trained on."""
    n_tested = np.cumsum([test.size for _, test in folds])
    return folds[: max(2, int(np.searchsorted(n_tested, ENOUGH_ROWS)) + 1)]


def checked_folds(folds: Iterable[Any], n_rows: int) -> list[Fold]:
    """Return folds in which each row is tested once, or raise InvalidInputError."""
    found = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    tested = np.sort(np.concatenate([test for _, test in found]))
    if len(found) < 2 or not np.array_equal(tested, np.arange(n_rows)):
        raise InvalidInputError(
            "cv must have at least 2 folds, and each row must be tested in exactly one of them."
        )
    return found


def among(counts: NDArray[np.bool_], fold: Fold) -> Fold:
    """Restrict a fold to the rows where `counts` is true, and renumber them."""
    number = np.cumsum(counts) - 1
    train, test = fold
    return number[train[counts[train]]], number[test[counts[test]]]


def folds_of_some(folds: Iterable[Fold], counts: NDArray[np.bool_]) -> list[Fold]:
    """Restrict folds to the rows where `counts` is true; raise if fewer than two folds remain."""
    found = [among(counts, fold) for fold in folds]
    found = [(train, test) for train, test in found if train.size and test.size]
    if len(found) < 2:
        raise InvalidInputError(
            "cv must have at least two folds that test rows of positive weight; change folds or weights."
        )
    return found


def in_new_order(folds: Iterable[Fold], order: NDArray[np.intp]) -> list[Fold]:
    """Renumber the rows of folds after a permutation: row ``order[i]`` becomes row ``i``."""
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.arange(len(order))
    return [(number[train], np.sort(number[test])) for train, test in folds]
