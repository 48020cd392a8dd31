"""Columns of a Yggdrasil model: features, their categories, and labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model

# Yggdrasil's name for all categories that are unknown, or were too rare in training. Its number is 0.
OTHER = "<OOD>"

_NUMBER, _DISCRETE, _CATEGORY, _BOOLEAN = "NUMERICAL", "DISCRETIZED_NUMERICAL", "CATEGORICAL", "BOOLEAN"

# Yggdrasil converts all categories and labels to strings, and keeps the type of the training column.
_STRINGS, _BOOLEANS, _UNKNOWN = "DTYPE_BYTES", "DTYPE_BOOL", "DTYPE_INVALID"


class Features(NamedTuple):
    """Features of a model, in the order of its inputs.

    Attributes
    ----------
    names : of each feature
    number : number of a feature, by the index of its column
    kind : type of each feature's column
    categories : of each feature, in the order of their numbers; None for numbers
    boundaries : thresholds of each feature whose splits count them; None for others
    """

    names: tuple[str, ...]
    number: dict[int, int]
    kind: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    boundaries: tuple[NDArray[np.float32] | None, ...]


def read_features(columns: Any, inputs: list[int]) -> Features:
    """Read the columns of features; raise if a Forest cannot have one of them."""
    check_model(
        bool(inputs) and len(set(inputs)) == len(inputs) and 0 <= min(inputs) <= max(inputs) < len(columns),
        "its features are not columns of its data",
    )
    own = [columns[k] for k in inputs]
    kinds = [type_of(column) for column in own]
    refused = {
        repr(column.name): kind
        for column, kind in zip(own, kinds, strict=True)
        if kind not in (_NUMBER, _DISCRETE, _CATEGORY, _BOOLEAN)
    }
    if refused:
        raise UnsupportedModelError(
            f"this Yggdrasil model has features whose values are no single numbers or categories, which a "
            f"Forest has not: {', '.join(f'{name} ({kind})' for name, kind in refused.items())}. Compute "
            "numbers or categories from them yourself, and train on these."
        )
    return Features(
        tuple(column.name for column in own),
        {k: number for number, k in enumerate(inputs)},
        tuple(kinds),
        tuple(_categories(column, kind) for column, kind in zip(own, kinds, strict=True)),
        tuple(
            np.array(column.discretized_numerical.boundaries, dtype=np.float32) if kind == _DISCRETE else None
            for column, kind in zip(own, kinds, strict=True)
        ),
    )


def type_of(column: Any) -> str:
    """Name of a column's type."""
    return _name(column, "type", column.type)


def read_labels(column: Any) -> NDArray[Any]:
    """Labels of a classifier, in the type of the training data where it was recorded."""
    check_model(type_of(column) == _CATEGORY, f"its label is a column of the type {type_of(column)}")
    names = _names(column)
    check_model(len(names) >= 3, "it has fewer than two labels")
    return np.array(_typed(names[1:], column))


def _categories(column: Any, kind: str) -> tuple[Any, ...] | None:
    if kind == _BOOLEAN:
        return False, True
    if kind != _CATEGORY:
        return None
    if column.categorical.is_already_integerized:
        raise UnsupportedModelError(
            f"the categories of {column.name!r} were numbered before Yggdrasil got them, and their names are "
            "not recorded; load models of TensorFlow with ydf.from_tensorflow_decision_forests, and train "
            "other ones on the categories themselves."
        )
    names = _names(column)
    return (OTHER, *_typed(names[1:], column))


def _names(column: Any) -> list[str]:
    """Categories of a column by number, the first for all others."""
    items = {item.index: name for name, item in column.categorical.items.items()}
    check_model(
        sorted(items) == list(range(column.categorical.number_of_unique_values)) and items.get(0) == OTHER,
        f"the categories of {column.name!r} are not numbered one after the other",
    )
    return [items[number] for number in range(len(items))]


def _typed(names: list[str], column: Any) -> list[Any]:
    """Categories in the type of the training column; if none was recorded, numbers where all are numbers."""
    kind = _name(column, "dtype", column.dtype)
    if kind == _BOOLEANS and set(names) <= {"false", "true"}:
        return [name == "true" for name in names]
    if kind != _STRINGS and all(_is_whole_number(name) for name in names):
        return [int(name) for name in names]
    return list(names)


def _is_whole_number(name: str) -> bool:
    """Whether a category is a 64-bit number as numbers are written."""
    return name.removeprefix("-").isdecimal() and len(name) < 19 and str(int(name)) == name


def _name(message: Any, field: str, number: int) -> str:
    """Name of a value of an enumeration."""
    value = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(number)
    return str(number) if value is None else str(value.name)
