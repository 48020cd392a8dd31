"""`Dataset`, the result of a loader, and validation of its arrays."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import FeatureCosts
from budgetprune.errors import DatasetError
from budgetprune.utils.feature_names import default_names

Folder = str | os.PathLike[str]
Arrays = dict[str, NDArray[Any]]

# Arrays that a data file may hold: per row, and per feature.
_PER_ROW, _PER_FEATURE = ("y", "split", "qid"), ("feature_names", "costs", "discount_costs", "groups")
ARRAYS = ("X", *_PER_ROW, *_PER_FEATURE)

# Values of `Dataset.split`.
TRAIN, VALIDATION, TEST = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels and feature costs.

    Attributes
    ----------
    name : str
    X : ndarray of float32, shape (n_rows, n_features)
    y : ndarray of int64, shape (n_rows,)
    feature_names : tuple of str
    costs : FeatureCosts or None
        Published prices, with sources that features share where there are any; by column number, so that they
        fit `X` as it is. None: no prices are known, and every feature costs 1.
    qid : ndarray of int64 or None
        Query of each row, for ranking data.
    split : ndarray of int8 or None
        `TRAIN`, `VALIDATION` or `TEST` for each row, if the source fixes it.
    note : str
        Remark on these rows, e.g. that they are a subset.
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    costs: FeatureCosts | None = None
    qid: NDArray[np.int64] | None = None
    split: NDArray[np.int8] | None = None
    note: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all contents that results depend on."""
        total = hashlib.sha256()
        for array in (self.X, self.y, self.qid, self.split):
            total.update(b"-" if array is None else np.ascontiguousarray(array).data)
        total.update(repr((self.X.shape, self.feature_names, self.costs)).encode())
        return total.hexdigest()

    def __repr__(self) -> str:
        """Show sizes instead of rows."""
        rows, columns = self.X.shape
        return f"<Dataset {self.name}: {rows:,} rows, {columns} features{self.note and f'; {self.note}'}>"


def as_dataset(name: str, arrays: Arrays, costs: FeatureCosts | None = None, note: str = "") -> Dataset:
    """Make a data set from arrays validated by `check_arrays`."""
    names, split, qid = (arrays.get(key) for key in ("feature_names", "split", "qid"))
    X = arrays["X"].astype(np.float32, copy=False)
    return Dataset(
        name=name,
        X=X,
        y=arrays["y"].astype(np.int64, copy=False),
        feature_names=default_names(X.shape[1]) if names is None else tuple(map(str, names)),
        costs=costs,
        qid=None if qid is None else qid.astype(np.int64, copy=False),
        split=None if split is None else split.astype(np.int8, copy=False),
        note=note,
    )


def check_arrays(arrays: Arrays, where: str) -> Arrays:
    """Raise if arrays are inconsistent; `where` names their origin in the message."""
    for key in ("X", "y"):
        _require(key in arrays, where, f"there is no array {key}")
    X = arrays["X"]
    _require(X.ndim == 2 and X.dtype.kind in "fiub", where, "X must be a table of numbers")
    _require(len(X) > 0, where, "there are no rows")
    for key in _PER_ROW:
        if key in arrays:
            _require(
                arrays[key].shape == X.shape[:1] and arrays[key].dtype.kind in "iu",
                where,
                f"{key} must be a list of whole numbers, one for each of {len(X)} rows",
            )
    if "split" in arrays:
        _require(
            bool(np.isin(arrays["split"], (TRAIN, VALIDATION, TEST)).all()),
            where,
            f"split must be {TRAIN}, {VALIDATION} or {TEST}",
        )
    for key in _PER_FEATURE:
        if key in arrays:
            _require(arrays[key].shape == X.shape[1:], where, f"{key} must have {X.shape[1]} entries, like X")
    return arrays


def _require(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise DatasetError(f"{where} does not hold a data set: {what}.")
