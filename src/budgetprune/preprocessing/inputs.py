"""`InputColumns`: the raw columns that a model reads, with what readers of tables ask of a forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.preprocessing.preprocessing import Preprocessing

if TYPE_CHECKING:
    from budgetprune.forest import Forest


@dataclass(frozen=True, eq=False)
class InputColumns:
    """Raw columns of a preprocessing before a forest. The names of the attributes are those of `Forest`.

    Attributes
    ----------
    names : tuple of str
    feature_names : the same, or None if columns are read by position
    feature_categories : for each column None, or its categories; none if it may hold any text
    used_features : numbers of the columns that splits depend on
    classes : labels of the model
    """

    names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    feature_categories: tuple[tuple[Any, ...] | None, ...]
    used_features: NDArray[np.intp]
    classes: NDArray[Any] | None
    missing: str = "nan"
    other_category: str | None = None
    unknown_counts_as: str = "as unknown"

    @classmethod
    def of(cls, preprocessing: Preprocessing, forest: Forest) -> InputColumns:
        """Describe the raw columns of a preprocessing."""
        is_used = np.isin(np.arange(forest.n_features), forest.feature)
        return cls(
            names=preprocessing.raw_names,
            feature_names=preprocessing.raw_names if preprocessing.has_names else None,
            feature_categories=preprocessing.raw_labels,
            used_features=np.flatnonzero(preprocessing.raw_columns_of(is_used)),
            classes=forest.classes,
        )

    @property
    def n_features(self) -> int:
        """Number of raw columns."""
        return len(self.names)
