"""Rows that a scikit-learn estimator is given: checked against the features it knows, else left alone."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_array
from sklearn.utils.validation import validate_data


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
