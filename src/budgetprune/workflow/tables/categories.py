"""Number categories so that a threshold tells them apart, and one column stays one feature.

Trees of scikit-learn know thresholds only. If the categories of a column are numbered in the order of what
their rows answer on average, then for two classes, and for regression, the best of all ways to divide them in
two is a threshold (Fisher 1958; Breiman et al. 1984); for several classes it is a good one if they are in the
order of the first principal component of their class shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.categories import encode_table
from budgetprune.workflow.tables.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

# As many rows with the average answer are added to each category, so that few rows prove little.
SMOOTHING = 10.0
# The answers of a category with fewer training rows than this are chance: it counts as missing. So do
# categories that nobody has seen, and how these go is then learned from the rare ones.
FEWEST_ROWS, MOST_FEWEST_ROWS, ROWS_PER_FEWEST = 2, 20, 200


@dataclass(frozen=True)
class Categories:
    """How the categories of each feature are numbered.

    Attributes
    ----------
    labels : tuple with one entry per feature
        The categories in the order of their numbers; None for a feature that is a number.
    """

    labels: tuple[tuple[Any, ...] | None, ...]

    @property
    def are_any(self) -> bool:
        return any(labels is not None for labels in self.labels)

    @property
    def columns(self) -> list[int]:
        """Numbers of the features that have categories."""
        return [k for k, labels in enumerate(self.labels) if labels is not None]

    def encode(self, frame: pd.DataFrame, dtype: Any = np.float32) -> NDArray[Any]:
        """Rows as numbers: unknown categories are missing (NaN), and so is what is missing."""
        encoded = encode_table(frame, "the table", self.labels) if self.are_any else frame
        # A number too large for single precision is an infinity, which whoever takes the rows reports.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(encoded.to_numpy(dtype=np.float64), dtype=dtype)

    def restrict(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table whose columns of categories have these and no others, which become missing."""
        known = {
            name: frame[name].cat.set_categories(list(labels))
            for name, labels in zip(frame.columns, self.labels, strict=True)
            if labels is not None
        }
        return frame.assign(**known)


def learn_categories(
    columns: Columns, y: NDArray[Any], *, is_classifier: bool, most: int | None = None
) -> Categories:
    """Number the categories of training rows in the order of what their rows answer.

    Parameters
    ----------
    columns : of training rows, and of no others: what they answer decides
    y : labels or targets of these rows
    is_classifier : whether `y` are labels
    most : int, optional
        Categories that a column may have: the most frequent ones stay.
    """
    if is_classifier:
        classes, number = np.unique(y, return_inverse=True)
        answers = np.zeros((len(y), classes.size))
        answers[np.arange(len(y)), number] = 1.0
    else:
        answers = np.asarray(y, dtype=np.float64)[:, np.newaxis]
    fewest = int(np.clip(len(y) // ROWS_PER_FEWEST, FEWEST_ROWS, MOST_FEWEST_ROWS))
    return Categories(
        tuple(
            _in_order(columns.frame[name], answers, fewest, most) if is_categorical else None
            for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
        )
    )


def _in_order(
    column: pd.Series[Any], answers: NDArray[np.float64], fewest: int, most: int | None
) -> tuple[Any, ...]:
    """The categories that have enough rows, in the order of their (smoothed) answers."""
    labels, code = column.cat.categories.tolist(), column.cat.codes.to_numpy()
    present = code >= 0
    n_rows = np.bincount(code[present], minlength=len(labels)).astype(np.float64)
    total = np.column_stack(
        [np.bincount(code[present], weights=each[present], minlength=len(labels)) for each in answers.T]
    )
    mean = answers.mean(axis=0)
    shares = (total + SMOOTHING * mean) / (n_rows + SMOOTHING)[:, np.newaxis]
    enough = np.flatnonzero(n_rows >= fewest)
    if most is not None and enough.size > most:
        enough = np.sort(enough[np.argsort(-n_rows[enough], kind="stable")[:most]])
    order = enough[np.argsort(_direction(shares[enough], n_rows[enough]), kind="stable")]
    return tuple(labels[k] for k in order.tolist())


def _direction(shares: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where categories lie along the line on which they differ most."""
    if shares.shape[1] == 1 or not len(shares):
        return shares[:, 0]
    if shares.shape[1] == 2:
        return shares[:, 1]
    centred = shares - np.average(shares, axis=0, weights=weight)
    axis = np.linalg.svd(centred * np.sqrt(weight)[:, np.newaxis], full_matrices=False)[2][0]
    return np.asarray(centred @ (axis * np.sign(axis[np.argmax(np.abs(axis))])))
