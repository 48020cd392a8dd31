"""Detection of repeated rows, so that copies of a row are never both in fitting and in scoring rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

Key = NDArray[np.uint64]

# With more copies per distinct row on average, the features are so coarse that equal rows are normal. Then
# rows count as distinct; otherwise one side would lack whole combinations of values.
MAX_COPIES = 4


def number_duplicates(X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """Number the distinct rows, labels included; the order does not depend on how often each occurs.

    Rows are repeated if a rare class was oversampled, or if rows were repeated instead of weighted.
    """
    key = _mixed(_row_keys(X) ^ _bits(y))
    distinct, number = np.unique(key, return_inverse=True)
    if key.size > MAX_COPIES * distinct.size:
        return np.arange(key.size)
    return number.astype(np.intp)


def _row_keys(X: Any) -> Key:
    """Hash of each row of a table, an array or a sparse matrix."""
    if sparse.issparse(X):
        entries: Any = X.tocsr(copy=True)  # type: ignore[attr-defined]
        entries.sum_duplicates()
        entries.eliminate_zeros()
        entries.data = _mixed(_mixed(entries.indices.astype(np.uint64)) ^ _bits(entries.data))
        return np.asarray(entries.sum(axis=1), dtype=np.uint64).ravel()
    key = np.zeros(X.shape[0], dtype=np.uint64)
    for k in range(X.shape[1]):
        key = _mixed(key ^ _bits(np.asarray(_safe_indexing(X, k, axis=1))))
    return key


def _bits(values: NDArray[Any]) -> Key:
    """Values as 64 bits each; equal values have equal bits."""
    if values.dtype.kind not in "fiub":
        values = np.unique(values.astype(str), return_inverse=True)[1]
    numbers = values.astype(np.float64) + 0.0  # so that -0 is 0
    return numbers.view(np.uint64)


def _mixed(bits: Key) -> Key:
    """Mix the bits of each number (the last steps of the generator SplitMix64)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
