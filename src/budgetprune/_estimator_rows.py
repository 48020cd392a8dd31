"""What a scikit-learn estimator is given: rows, labels and weights that go together, else left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from budgetprune.errors import InvalidInputError


def rows_of(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Return rows whose features are those of the first ones (`reset`); tables stay tables.

    Parameters
    ----------
    estimator : estimator
        Knows the features since `reset` (`n_features_in_`, `feature_names_in_`).
    X : array, sparse matrix or table
        Whether values may be missing is for those to say who read them.
    reset : bool
        Whether the estimator learns its features from these rows.
    """
    if not hasattr(X, "columns"):
        X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False, input_name="X")
        if X.dtype.kind not in "fiub":
            X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def refuse_infinities(X: Any) -> None:
    """Raise where rows hold infinities, which some libraries train on and no forest predicts with."""
    numbers = X.select_dtypes("number") if hasattr(X, "select_dtypes") else X
    if not hasattr(numbers, "columns") or len(numbers.columns):
        check_array(numbers, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan", input_name="X")


def labels_of(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """Return labels or targets, one for each row; what they may be is for the estimator to say."""
    if y is None:
        raise InvalidInputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    return labels


def weights_of(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    """Return weights of rows if there are any: none negative, and not all of them zero."""
    if sample_weight is None:
        return None
    weight: NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise InvalidInputError("sample_weight is zero in all rows; at least one row must count.")
    return weight
