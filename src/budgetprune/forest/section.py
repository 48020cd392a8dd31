"""Section of model files that holds a forest: arrays, and settings that JSON can hold."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.forest import Forest
from budgetprune.forest.schema import ARRAYS
from budgetprune.persistence import Content, Section, add_prefix, remove_prefix

NAME, PREFIX = "forest", "forest."

_PLAIN = "biufSU"  # kinds of arrays that are stored as they are: bool, numbers, strings

# The model that a forest was imported from cannot be stored.
_SETTINGS = tuple(field for field in fields(Forest) if field.name not in ARRAYS and field.name != "origin")

_DTYPES = {"<f4": np.dtype(np.float32), "<f8": np.dtype(np.float64)}

Label = bool | int | float | str | None


# --- The section --------------------------------------------------------------------------------------------


def _write(forest: Forest, others: Mapping[str, Any]) -> Content:
    settings, arrays = forest_to_parts(forest)
    return Content({NAME: settings_to_store(settings)}, add_prefix(PREFIX, without_none(arrays)))


def _read(content: Content, others: Mapping[str, Any]) -> Forest:
    return forest_from_parts(content.header.get(NAME), remove_prefix(PREFIX, content.arrays))


SECTIONS = (
    Section(name=NAME, since=1, keys=(NAME,), dtypes=add_prefix(PREFIX, ARRAYS), write=_write, read=_read),
)


# --- Forests as plain values --------------------------------------------------------------------------------


def forest_to_parts(forest: Forest) -> tuple[dict[str, Any], dict[str, NDArray[Any] | None]]:
    """Separate the settings of a forest, which JSON can hold, from its arrays; the origin is left out."""
    arrays = {name: getattr(forest, name) for name in ARRAYS}
    if forest.classes is not None:
        arrays["classes"] = _plain_classes(forest.classes)
    settings = {field.name: getattr(forest, field.name) for field in _SETTINGS}
    plain = {
        "input_dtype": forest.input_dtype.newbyteorder("<").str,
        "label_dtype": forest.label_dtype.newbyteorder("<").str,
        "feature_names": None if forest.feature_names is None else list(forest.feature_names),
        "categories": _plain_categories(forest.categories),
    }
    return settings | plain, arrays


def settings_to_store(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out settings that earlier releases do not know, if they have their defaults."""
    defaults = {"label_dtype": "<f8", "other_category": None}
    return {
        name: value for name, value in settings.items() if name not in defaults or value != defaults[name]
    }


def without_none(arrays: Mapping[str, NDArray[Any] | None]) -> dict[str, NDArray[Any]]:
    """Leave out arrays that are None."""
    return {name: array for name, array in arrays.items() if array is not None}


def forest_from_parts(settings: Any, arrays: Mapping[str, NDArray[Any]]) -> Forest:
    """Create a forest from the content of a file, or raise InvalidInputError.

    A setting that was added in a later release has its default; an unknown one is an error.
    """
    if not isinstance(settings, dict):
        raise InvalidInputError("the settings of the forest must be a mapping.")
    absent = [field.name for field in _SETTINGS if field.default is MISSING and field.name not in settings]
    unknown = settings.keys() - {field.name for field in _SETTINGS}
    if absent or unknown:
        raise InvalidInputError(
            f"the settings of the forest lack {', '.join(absent) or 'nothing'}, and have unknown ones: "
            f"{reprlib.repr(sorted(unknown)) if unknown else 'none'}."
        )
    precision = {name: settings.get(name, "<f8") for name in ("input_dtype", "label_dtype")}
    for name, dtype in precision.items():
        if dtype not in tuple(_DTYPES):
            raise InvalidInputError(f"{name} must be one of {', '.join(_DTYPES)}.")
    parts: dict[str, Any] = {name: arrays.get(name) for name in ARRAYS}
    parts |= settings | {
        "feature_names": _as_tuple(settings["feature_names"], "feature_names"),
        "categories": _labels_of_categories(settings.get("categories")),
    }
    parts |= {name: _DTYPES[dtype] for name, dtype in precision.items()}
    return Forest(**parts, origin=None)


def check_same_forest(stored: Forest, given: Forest) -> None:
    """Raise InvalidInputError if a given forest differs from the one that was stored with a path."""
    (settings, arrays), (given_settings, given_arrays) = forest_to_parts(stored), forest_to_parts(given)
    different = [name for name, value in settings.items() if given_settings[name] != value]
    different += [name for name, array in arrays.items() if not _equal(array, given_arrays[name])]
    if different:
        raise InvalidInputError(
            f"this is not the forest that the path was saved with: they differ in {', '.join(different)}."
        )


def _equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")


def _plain_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array that needs no pickle; labels in an object array must be of one plain type."""
    if classes.dtype.kind in _PLAIN:
        return classes
    labels = classes.tolist()
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], bool | int | float | str):
        plain = np.array(labels)
        if plain.dtype.kind in _PLAIN and plain.tolist() == labels:
            return plain
    raise InvalidInputError(
        f"classes of type {classes.dtype} ({', '.join(map(repr, labels[:5]))}) cannot be saved without "
        "pickle; train the model on labels that are all strings, all numbers or all bool."
    )


def _plain_categories(
    categories: tuple[tuple[Any, ...] | None, ...] | None,
) -> list[list[Label] | None] | None:
    """Return the labels of categories, by feature, as values that JSON can hold."""
    if categories is None:
        return None
    return [None if labels is None else list(map(_plain_label, labels)) for labels in categories]


def _plain_label(label: Any) -> Label:
    plain: Any = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, Label):
        return plain
    raise InvalidInputError(
        f"the category {label!r} cannot be saved without pickle; train the model on categories that are "
        "strings, numbers or bool."
    )


def _labels_of_categories(stored: Any) -> tuple[tuple[Label, ...] | None, ...] | None:
    categories = _as_tuple(stored, "categories")
    if categories is None:
        return None
    labels = tuple(_as_tuple(own, "the categories of a feature") for own in categories)
    if not all(isinstance(label, Label) for own in labels if own is not None for label in own):
        raise InvalidInputError("categories must be strings, numbers or bool.")
    return labels


def _as_tuple(stored: Any, what: str) -> tuple[Any, ...] | None:
    """Return a JSON list as a tuple; None stays None. A string is an error, not a list of letters."""
    if stored is None:
        return None
    if not isinstance(stored, list):
        raise InvalidInputError(f"{what} must be a list.")
    return tuple(stored)
