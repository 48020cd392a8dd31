"""Ordinal encoding of categories, so that a categorical column stays one feature.

Trees of scikit-learn split by thresholds only. If the categories of a column are numbered in the order of
their mean target, then for two classes, and for regression, the best split of the categories into two sets is
a threshold (Fisher 1958; Breiman et al. 1984). For several classes, they are numbered in the order of the
first principal component of their class shares, which gives good splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import encode_table
from budgetprune.workflow.tables.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

# Number of rows with the mean target that are added to each category, to smooth categories with few rows.
SMOOTHING = 10.0
# A category needs this many training rows, otherwise it counts as missing: 1 in 200 of all rows, from
# 2 to 20. Unknown categories count as missing too, so the trees learn from rare ones how to route them.
FEWEST_ROWS, MOST_FEWEST_ROWS, ROWS_PER_FEWEST = 2, 20, 200


@dataclass(frozen=True)
class Categories:
    """Numbering of the categories of each feature.

    Attributes
    ----------
    labels : tuple with one entry per feature
        The categories in the order of their numbers; None for a numeric feature.
    """

    labels: tuple[tuple[Any, ...] | None, ...]

    @property
    def has_any(self) -> bool:
        """Whether any feature is categorical."""
        return any(labels is not None for labels in self.labels)

    @property
    def columns(self) -> list[int]:
        """Positions of the categorical features."""
        return [k for k, labels in enumerate(self.labels) if labels is not None]

    def encode(self, frame: pd.DataFrame, dtype: Any = np.float32) -> NDArray[Any]:
        """Return rows as numbers; missing values and unknown categories are NaN."""
        encoded = encode_table(frame, "the table", self.labels) if self.has_any else frame
        # A number too large for single precision becomes an infinity, which later checks report.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(encoded.to_numpy(dtype=np.float64), dtype=dtype)

    def restrict(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table whose categorical columns have only these categories; others become missing."""
        known = {
            name: frame[name].cat.set_categories(list(labels))
            for name, labels in zip(frame.columns, self.labels, strict=True)
            if labels is not None
        }
        return frame.assign(**known)


def learn_categories(
    columns: Columns, y: NDArray[Any], *, is_classifier: bool, most: int | None = None
) -> Categories:
    """Number the categories of training rows in the order of their mean target.

    Parameters
    ----------
    columns : features of the training rows only, since their targets determine the numbering
    y : labels or targets of these rows
    is_classifier : whether `y` are labels
    most : int, optional
        Largest number of categories of a column; the most frequent ones are kept.
    """
    if is_classifier:
        classes, number = np.unique(y, return_inverse=True)
        targets = np.zeros((len(y), classes.size))
        targets[np.arange(len(y)), number] = 1.0
    else:
        targets = np.asarray(y, dtype=np.float64)[:, np.newaxis]
    fewest = int(np.clip(len(y) // ROWS_PER_FEWEST, FEWEST_ROWS, MOST_FEWEST_ROWS))
    return Categories(
        tuple(
            _ordered_categories(columns.frame[name], targets, fewest, most) if is_categorical else None
            for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
        )
    )


def _ordered_categories(
    column: pd.Series[Any], targets: NDArray[np.float64], fewest: int, most: int | None
) -> tuple[Any, ...]:
    """Return the categories that have enough rows, in the order of their smoothed mean targets."""
    labels, code = column.cat.categories.tolist(), column.cat.codes.to_numpy()
    present = code >= 0
    n_rows = np.bincount(code[present], minlength=len(labels)).astype(np.float64)
    total = np.column_stack(
        [np.bincount(code[present], weights=each[present], minlength=len(labels)) for each in targets.T]
    )
    mean = targets.mean(axis=0)
    shares = (total + SMOOTHING * mean) / (n_rows + SMOOTHING)[:, np.newaxis]
    enough = np.flatnonzero(n_rows >= fewest)
    if most is not None and enough.size > most:
        enough = np.sort(enough[np.argsort(-n_rows[enough], kind="stable")[:most]])
    order = enough[np.argsort(_positions(shares[enough], n_rows[enough]), kind="stable")]
    return tuple(labels[k] for k in order.tolist())


def _positions(shares: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the position of each category along the direction in which class shares differ most."""
    if shares.shape[1] == 1 or not len(shares):
        return shares[:, 0]
    if shares.shape[1] == 2:
        return shares[:, 1]
    centred = shares - np.average(shares, axis=0, weights=weight)
    axis = np.linalg.svd(centred * np.sqrt(weight)[:, np.newaxis], full_matrices=False)[2][0]
    return np.asarray(centred @ (axis * np.sign(axis[np.argmax(np.abs(axis))])))
