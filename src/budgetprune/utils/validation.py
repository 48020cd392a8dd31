"""Validation of the rows, labels and weights passed to a scikit-learn estimator."""

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
from budgetprune.utils.data_frames import as_data_frame


def rows_of(estimator: Any, X: Any, *, reset: bool = False, may_hold_text: bool = False) -> Any:
    """Return rows after checking their features against those seen at `reset`; tables stay tables.

    Parameters
    ----------
    estimator : estimator
        It stores the features of the call with `reset` (`n_features_in_`, `feature_names_in_`).
    X : array, sparse matrix or table
        Missing values are not checked here.
    reset : bool
        Whether the estimator learns its features from these rows.
    may_hold_text : bool
        Whether arrays may hold strings, which a preprocessing encodes.
    """
    X = as_data_frame(X)
    if not hasattr(X, "columns"):
        if may_hold_text and not hasattr(X, "dtype"):
            X = np.asarray(X, dtype=object)  # numbers among strings stay numbers
        X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False, input_name="X")
        if X.dtype.kind not in "fiub" and not may_hold_text:
            X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    elif reset:
        names = [str(name) for name in X.columns]
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InvalidInputError(f"X has several columns named {repeated!r}; give each its own name.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def refuse_infinities(X: Any) -> None:
    """Raise if rows hold infinities, which some libraries accept in training but no forest can predict."""
    numbers = X.select_dtypes("number") if hasattr(X, "select_dtypes") else X
    if not hasattr(numbers, "columns") or len(numbers.columns):
        check_array(numbers, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan", input_name="X")


def labels_of(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """Return labels or targets, one for each row; the estimator checks their values."""
    if y is None:
        raise InvalidInputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    is_boolean = str(getattr(y, "dtype", "")) == "boolean"  # of pandas, which would become numbers
    labels: NDArray[Any] = column_or_1d(np.asarray(y, dtype=object) if is_boolean else y, warn=True)
    check_consistent_length(X, labels)
    if labels.dtype == object:
        missing = np.flatnonzero(is_missing(labels))
        if missing.size:
            raise InvalidInputError(
                f"y has no value in {missing.size} of {len(labels)} rows, first in row {missing[0]}; leave "
                "such rows out."
            )
    return labels.astype(np.bool_) if is_boolean else labels


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Find None, NaN and pandas' NA."""
    found = np.zeros(len(values), dtype=np.bool_)
    if values.dtype.kind == "f":
        found[:] = np.isnan(values)
    elif values.dtype == object:
        found[:] = np.frompyfunc(_is_missing, 1, 1)(values)
    return found


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # comparisons with NA are NA, which is neither true nor false
        return True


def weights_of(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    """Return row weights, or None; raise if any is negative or all are zero."""
    if sample_weight is None:
        return None
    weight: NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise InvalidInputError("sample_weight is zero in all rows; at least one row must count.")
    return weight
