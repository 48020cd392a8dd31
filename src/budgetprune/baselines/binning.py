"""Binning of features: each value becomes the number of its bin, and splits lie between bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.kernels import last_of_bins

MAX_BINS = 255
MISSING = 255  # the bin of missing values, after all others

# Largest finite float32: as a threshold, it separates present values from missing ones.
_ANY_VALUE = float(np.finfo(np.float32).max)


class Bins(NamedTuple):
    """Bins of each feature, and the bin of each row.

    Attributes
    ----------
    code : uint8 array of shape (n_features, n_rows)
        Number of the bin that a row's value is in; `MISSING` for NaN.
    n_bins : int32 array of shape (n_features,)
        Number of bins of each feature, without that of missing values.
    edge : float64 array of shape (n_features, MAX_BINS)
        ``edge[k, b]`` is above all values of feature `k` in bins 0 to `b`, and below all others; for the last
        bin (and where there is no bin), it is above every number.
    """

    code: NDArray[np.uint8]
    n_bins: NDArray[np.int32]
    edge: NDArray[np.float64]


def find_bins(
    X: NDArray[np.float32], max_bins: int = MAX_BINS, weight: NDArray[np.float64] | None = None
) -> Bins:
    """Divide the values of each feature into bins with about equal numbers of rows.

    Parameters
    ----------
    X : float32 array of shape (n_rows, n_features)
        May hold NaN, but no infinities.
    max_bins : int
        From 2 to `MAX_BINS`. A feature with no more distinct values than this has a bin for each of them, so
        that nothing is lost; otherwise a value that fills a bin has it for itself.
    weight : float64 array of shape (n_rows,), optional
        Rows of weight 0 get bins, but do not influence the edges.
    """
    n_rows, n_features = X.shape
    code = np.empty((n_features, n_rows), dtype=np.uint8)
    n_bins = np.empty(n_features, dtype=np.int32)
    edge = np.full((n_features, MAX_BINS), _ANY_VALUE)
    counts = np.True_ if weight is None else weight > 0
    for k in range(n_features):
        column = np.ascontiguousarray(X[:, k])
        is_missing = np.isnan(column)
        edges = _edges(column[~is_missing & counts], max_bins)
        code[k] = np.searchsorted(edges, column)
        code[k, is_missing] = MISSING
        n_bins[k] = edges.size + 1
        edge[k, : edges.size] = edges
    return Bins(code, n_bins, edge)


def _edges(values: NDArray[np.float32], max_bins: int) -> NDArray[np.float64]:
    """Compute the edges between bins: the midpoint of the nearest values on both sides."""
    distinct, count = np.unique(values, return_counts=True)
    exact = distinct.astype(np.float64)  # the midpoint of two float32 is neither of them
    last = np.arange(distinct.size - 1) if distinct.size <= max_bins else last_of_bins(count, max_bins)
    middle: NDArray[np.float64] = (exact[last] + exact[last + 1]) / 2
    return middle
