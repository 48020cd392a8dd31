"""Ordinal encoding of categories, so that a categorical column stays one feature.

Trees of scikit-learn split by thresholds only, so categories are numbered in the order of their mean target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import encode_table
from budgetprune.preprocessing import order_categories, targets_of
from budgetprune.workflow.tables.columns import Columns

if TYPE_CHECKING:
    import pandas as pd


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
    targets = targets_of(y, is_classifier=is_classifier)
    return Categories(
        tuple(
            _ordered_categories(columns.frame[name], targets, most) if is_categorical else None
            for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
        )
    )


def _ordered_categories(
    column: pd.Series[Any], targets: NDArray[np.float64], most: int | None
) -> tuple[Any, ...]:
    labels = column.cat.categories.tolist()
    order = order_categories(column.cat.codes.to_numpy(), len(labels), targets, most)
    return tuple(labels[k] for k in order)
