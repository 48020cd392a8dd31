"""`CategoryNumbers`: numbers text columns, for trees that split by thresholds only."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from budgetprune.preprocessing.category_order import order_categories, targets_of
from budgetprune.preprocessing.raw_columns import Column, as_numbers, as_objects
from budgetprune.preprocessing.text import text_columns


class CategoryNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Number the categories of text columns in the order of their mean target.

    Missing, rare and unknown categories are missing values. Other columns are numbers.

    Parameters
    ----------
    is_classifier : bool
        Whether targets are classes.

    Attributes
    ----------
    labels_ : tuple with an entry per column: None, or the categories in the order of their numbers
    """

    def __init__(self, is_classifier: bool = True) -> None:
        self.is_classifier = is_classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the order of the categories."""
        validate_data(self, X, skip_check_array=True, reset=True)
        targets = targets_of(np.asarray(y), is_classifier=self.is_classifier)
        texts = set(text_columns(X, with_categories=True))
        self.labels_ = tuple(
            _ordered(as_objects(_column(X, k)), targets) if k in texts else None
            for k in range(self.n_features_in_)
        )
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return numbers."""
        check_is_fitted(self)
        validate_data(self, X, skip_check_array=True, reset=False)
        names = [str(name) for name in X.columns]
        columns = [
            as_numbers(_column(X, k), names[k]) if labels is None else _numbered(_column(X, k), labels)
            for k, labels in enumerate(self.labels_)
        ]
        return np.column_stack(columns)


def _column(X: Any, k: int) -> Any:
    return X[:, k] if hasattr(X, "get_columns") else X.iloc[:, k]


def _ordered(values: Column, targets: NDArray[np.float64]) -> tuple[Any, ...]:
    labels = sorted({value for value in values.tolist() if value is not None}, key=str)
    number = {label: k for k, label in enumerate(labels)}
    code = np.array([number.get(value, -1) for value in values.tolist()], dtype=np.intp)
    return tuple(labels[k] for k in order_categories(code, len(labels), targets))


def _numbered(column: Any, labels: tuple[Any, ...]) -> NDArray[np.float64]:
    number = {label: float(k) for k, label in enumerate(labels)}
    return np.array([number.get(value, np.nan) for value in as_objects(column).tolist()])
