"""Rows that an estimator is given, and how they are divided into folds."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from budgetprune.errors import InvalidInputError
from budgetprune.staged.training import Fold
from budgetprune.utils.validation import is_missing

# Out-of-fold rows from which stopping rules are learnt, at least, if there are so many.
ENOUGH_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their labels, weights and queries; the last two are optional."""

    rows: NDArray[np.float64]
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    qid: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.rows[chosen],
            self.labels[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.qid is None else self.qid[chosen],
        )


def unit_weights(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Scale weights so that rows that count weigh about 1 on average; learners depend on the scale.

    The factor is a power of two, so that nothing is rounded.
    """
    if weight is None:
        return None
    return np.asarray(np.ldexp(weight, -int(np.rint(np.log2(weight[weight > 0].mean())))))


def queries_of(X: Any, qid: Any) -> NDArray[Any] | None:
    """Return the query of each row, if there are queries."""
    if qid is None:
        return None
    found: NDArray[Any] = column_or_1d(qid)
    check_consistent_length(X, found)
    if is_missing(found).any():
        raise InvalidInputError("qid has missing values; each row needs the query that it belongs to.")
    return found


def takes_queries(scorer: Any) -> bool:
    """Whether a scorer has a parameter `qid`; scikit-learn's pass theirs on to a function."""
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return "qid" in parameters or (takes_all and not hasattr(scorer, "_score_func"))


def even_folds(
    random: np.random.RandomState, n_folds: int, strata: NDArray[np.intp], qid: NDArray[Any] | None
) -> list[Fold]:
    """Divide rows into folds; each gets an equal share of each stratum, also of small ones.

    Rows of one query stay together.
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
            raise InvalidInputError("qid must name at least two queries; each stays in one fold.")
        n_folds = min(n_folds, queries.size)
        number = (random.permutation(queries.size) % n_folds)[query]
    return [
        (random.permutation(np.flatnonzero(number != f)), np.flatnonzero(number == f)) for f in range(n_folds)
    ]


def enough_folds(folds: list[Fold]) -> list[Fold]:
    """Leave out folds that are not needed to learn stopping rules; their rows are for training only."""
    n_tested = np.cumsum([test.size for _, test in folds])
    return folds[: max(2, int(np.searchsorted(n_tested, ENOUGH_ROWS)) + 1)]


def checked_folds(folds: Iterable[Any], n_rows: int) -> list[Fold]:
    """Return folds of which each row is tested in one, or raise InvalidInputError."""
    found = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    tested = np.sort(np.concatenate([test for _, test in found]))
    if len(found) < 2 or not np.array_equal(tested, np.arange(n_rows)):
        raise InvalidInputError(
            "cv must divide the rows so that each of them is tested once, in at least 2 folds."
        )
    return found


def among(counts: NDArray[np.bool_], fold: Fold) -> Fold:
    """Number the rows of a fold anew, among those that count."""
    number = np.cumsum(counts) - 1
    train, test = fold
    return number[train[counts[train]]], number[test[counts[test]]]


def folds_of_some(folds: Iterable[Fold], counts: NDArray[np.bool_]) -> list[Fold]:
    """Return the folds of the rows that count, or raise InvalidInputError if too few folds have any."""
    found = [among(counts, fold) for fold in folds]
    found = [(train, test) for train, test in found if train.size and test.size]
    if len(found) < 2:
        raise InvalidInputError(
            "cv must have at least two folds that test rows of positive weight; change folds or weights."
        )
    return found


def in_new_order(folds: Iterable[Fold], order: NDArray[np.intp]) -> list[Fold]:
    """Number the rows of folds anew, given which row comes where."""
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.arange(len(order))
    return [(number[train], np.sort(number[test])) for train, test in folds]
