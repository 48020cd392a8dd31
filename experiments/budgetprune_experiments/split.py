"""Rows of one repetition: T for training, V for costs and choices, test rows for reports only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Record


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint training, validation and test rows."""

    seed: int
    train: LabelledRows
    val: LabelledRows
    test: LabelledRows

    @cached_property
    def train_and_val(self) -> LabelledRows:
        """T and V together, for refitting after all choices."""
        both = self.train, self.val
        qid = [rows.qid for rows in both if rows.qid is not None]
        return LabelledRows(
            np.concatenate([rows.X for rows in both]),
            np.concatenate([rows.y for rows in both]),
            qid=np.concatenate(qid) if qid else None,
        )

    @property
    def fit_rows(self) -> dict[str, Any]:
        """T and V as our estimators' `fit` takes them."""
        rows = {"X": self.train.X, "y": self.train.y, "X_val": self.val.X, "y_val": self.val.y}
        return rows if self.train.qid is None else rows | {"qid": self.train.qid, "qid_val": self.val.qid}

    @property
    def sizes(self) -> Record:
        """Numbers of rows, by their names in results."""
        return {"n_train": len(self.train), "n_validation": len(self.val), "n_test": len(self.test)}


def shuffle_split(
    X: NDArray[Any], y: NDArray[Any], seed: int, *, n_train: int, n_val: int, n_test: int | None = None
) -> Split:
    """Shuffle and split the rows; with ``n_test=None``, all remaining rows are test rows.

    A class that does not occur in T is removed from V and the test, as it cannot be learnt.
    """
    needed = n_train + n_val + (1 if n_test is None else n_test)
    if needed > len(y):
        raise InvalidInputError(f"the split needs {needed:,} rows, but there are {len(y):,}.")
    order = np.random.default_rng(seed).permutation(len(y))
    stop = None if n_test is None else n_train + n_val + n_test
    train, val, test = np.split(order[:stop], [n_train, n_train + n_val])
    known = np.unique(y[train])
    val, test = (rows[np.isin(y[rows], known)] for rows in (val, test))
    return Split(seed, *(LabelledRows(X[rows], y[rows]) for rows in (train, val, test)))
