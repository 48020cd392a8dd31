"""Preprocessing of the raw columns of a staged model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing

from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing import Preprocessing, PricedPreprocessing, split_columns
from budgetprune.staged.data.columns import FeatureSchema


@dataclass(frozen=True, eq=False)
class EncodedTraining:
    """Encoded training rows, and how raw rows are encoded.

    Attributes
    ----------
    rows : float64 array; categories are numbers
    schema : FeatureSchema of the encoded features
    priced : PricedPreprocessing
    """

    rows: NDArray[np.float64]
    schema: FeatureSchema
    priced: PricedPreprocessing


def encode_training(
    transformer: Any,
    X: Any,
    labels: NDArray[Any],
    weight: NDArray[np.float64] | None,
    costs: Any,
    needs: Mapping[str, Any] | None,
) -> EncodedTraining:
    """Fit a transformer to the rows whose weight is not 0, unless it is frozen, and encode them.

    Rows of weight 0 are missing values; they are not used.
    """
    counts = np.ones(len(labels), dtype=np.bool_) if weight is None else weight > 0
    counted, labels = _safe_indexing(X, np.flatnonzero(counts)), labels[counts]
    if isinstance(transformer, FrozenEstimator):
        fitted = transformer.estimator
        encoded = fitted.transform(counted)
    else:
        if not hasattr(transformer, "fit_transform"):
            raise InvalidInputError(
                "preprocessing must be a transformer of scikit-learn, such as a ColumnTransformer, not "
                f"{type(transformer).__name__}."
            )
        fitted = clone(transformer)
        # Not fit and transform: a TargetEncoder encodes its own rows by cross-fitting.
        encoded = fitted.fit_transform(counted, labels)
    preprocessing = Preprocessing.from_sklearn(fitted, counted, needs=needs)
    columns = split_columns(encoded)
    categories = tuple(_labels(column) for column in columns)
    preprocessing = preprocessing.with_numbered_categories(categories)
    rows = np.full((counts.size, len(columns)), np.nan)
    for k, (column, labels_of_column) in enumerate(zip(columns, categories, strict=True)):
        if labels_of_column is None:
            rows[counts, k] = column
        else:
            number = {label: float(i) for i, label in enumerate(labels_of_column)}
            rows[counts, k] = [number.get(value, np.nan) for value in column.tolist()]
    has_any = any(each is not None for each in categories)
    schema = FeatureSchema(len(columns), preprocessing.feature_names, categories if has_any else None)
    return EncodedTraining(rows, schema, PricedPreprocessing.of(preprocessing, costs))


def _labels(column: NDArray[Any]) -> tuple[Any, ...] | None:
    """Return the categories of a column that holds text; None if it holds numbers."""
    if column.dtype != object:
        return None
    return tuple(
        sorted({value for value in column.tolist() if value is not None}, key=lambda each: str(each))
    )
