"""Encoders of categories, translated by their results for each category.

An encoder is called for every category of every column and for an unknown one. So rare categories, dropped
ones and the handling of unknown ones are as in scikit-learn, without a second implementation of its rules.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.preprocessing.operations import Label, Lookup, OneHot
from budgetprune.preprocessing.raw_columns import plain_value
from budgetprune.preprocessing.translate.builder import Builder


def one_hot(builder: Builder, name: str, encoder: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate a OneHotEncoder."""
    del is_flat
    found = []
    first = 0
    for j, column in enumerate(inputs):
        n_outputs = _n_one_hot(encoder, j)
        labels = _labels(encoder, j, name)
        rows, unknown = _results(encoder, j, slice(first, first + n_outputs))
        first += n_outputs
        operation = OneHot(
            inputs=(column,),
            labels=labels,
            place=builder.place(column, name),
            position=tuple(_position(row) for row in rows),
            size=n_outputs,
            unknown=None if unknown is None else _position(unknown),
        )
        found += builder.add(operation)
    return found


def by_category(builder: Builder, name: str, encoder: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate an OrdinalEncoder or a TargetEncoder."""
    del is_flat
    is_multiclass = getattr(encoder, "target_type_", None) == "multiclass"
    n_outputs = len(encoder.classes_) if is_multiclass else 1
    found = []
    for j, column in enumerate(inputs):
        labels = _labels(encoder, j, name)
        rows, unknown = _results(encoder, j, slice(j * n_outputs, (j + 1) * n_outputs))
        operation = Lookup(
            inputs=(column,),
            labels=labels,
            place=builder.place(column, name),
            values=tuple(tuple(each.tolist()) for each in rows.T),
            unknown=None if unknown is None else tuple(unknown.tolist()),
        )
        found += builder.add(operation)
    return found


def _n_one_hot(encoder: Any, j: int) -> int:
    """Number of outputs of a OneHotEncoder for its column `j`."""
    rare = getattr(encoder, "infrequent_categories_", None)
    n_rare = 0 if rare is None or rare[j] is None else len(rare[j]) - 1
    is_dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[j] is not None
    return len(encoder.categories_[j]) - n_rare - int(is_dropped)


def _labels(encoder: Any, j: int, name: str) -> tuple[Label, ...]:
    labels = tuple(plain_value(label) for label in encoder.categories_[j])
    if len(set(labels)) < len(labels):
        raise UnsupportedModelError(
            f"step {name!r} has both None and NaN as categories of its column {j}, which are the same "
            "missing value here; replace one of them in the training data."
        )
    return labels


def _results(encoder: Any, j: int, outputs: slice) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the outputs for each category of column `j`, and for an unknown one (None: it raises)."""
    table = np.empty((len(encoder.categories_[j]), len(encoder.categories_)), dtype=object)
    for i, categories in enumerate(encoder.categories_):
        table[:, i] = categories.tolist() if i == j else [categories.tolist()[0]] * len(table)
    rows = _transform(encoder, table)[:, outputs]
    unknown = table[:1].copy()
    unknown[0, j] = _unknown_label(table[:, j].tolist())
    try:
        return rows, _transform(encoder, unknown)[0, outputs]
    except ValueError:
        return rows, None


def _transform(encoder: Any, table: NDArray[Any]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown categories and of feature names
        found = encoder.transform(table)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)


def _unknown_label(labels: list[Any]) -> Any:
    if any(isinstance(label, str) for label in labels):
        return "".join(["?", *(label for label in labels if isinstance(label, str))])
    numbers = [float(label) for label in labels if label is not None and label == label]
    return max(numbers, default=0.0) + 1


def _position(row: NDArray[np.float64]) -> int:
    """Index of the one among zeros; -1 if there are zeros only."""
    return int(np.argmax(row)) if row.any() else -1
