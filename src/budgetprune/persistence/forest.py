"""A forest as plain parts, for files: arrays, and settings that JSON can hold. And back, trusting nothing."""

from __future__ import annotations

import reprlib
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.forest.schema import ARRAYS

_PLAIN = "biufSU"  # kinds of arrays that are stored as they are: truth values, numbers, text

# The model that a forest came from is no plain part.
_SETTINGS = tuple(field for field in fields(Forest) if field.name not in ARRAYS and field.name != "origin")

_DTYPES = {"<f4": np.dtype(np.float32), "<f8": np.dtype(np.float64)}

Label = bool | int | float | str | None


def take_apart(forest: Forest) -> tuple[dict[str, Any], dict[str, NDArray[Any] | None]]:
    """Separate what is an array in a forest from what JSON can hold; the origin is left out."""
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


def written(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as files have them: without those that earlier releases lack, if they are as then."""
    return {name: value for name, value in settings.items() if (name, value) != ("label_dtype", "<f8")}


def put_together(settings: Any, arrays: dict[str, NDArray[Any]]) -> Forest:
    """Build a forest from what a file holds, or raise InvalidInputError.

    A setting that was added to forests later has its default; one that they do not have is an error.
    """
    if not isinstance(settings, dict):
        raise InvalidInputError("the settings of the forest are no mapping.")
    absent = [field.name for field in _SETTINGS if field.default is MISSING and field.name not in settings]
    unknown = settings.keys() - {field.name for field in _SETTINGS}
    if absent or unknown:
        raise InvalidInputError(
            f"the settings of the forest lack {', '.join(absent) or 'nothing'}, and have unknown ones: "
            f"{reprlib.repr(sorted(unknown)) if unknown else 'none'}."
        )
    precision = {name: settings.get(name, "<f8") for name in ("input_dtype", "label_dtype")}
    for name, written in precision.items():
        if written not in tuple(_DTYPES):
            raise InvalidInputError(f"{name} must be one of {', '.join(_DTYPES)}.")
    parts: dict[str, Any] = {name: arrays.get(name) for name in ARRAYS}
    parts |= settings | {
        "feature_names": _as_tuple(settings["feature_names"], "feature_names"),
        "categories": _labels_of_categories(settings.get("categories")),
    }
    parts |= {name: _DTYPES[written] for name, written in precision.items()}
    return Forest(**parts, origin=None)


def _plain_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as an array that needs no pickle; those in an array of objects must be of one plain kind."""
    if classes.dtype.kind in _PLAIN:
        return classes
    labels = classes.tolist()
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], bool | int | float | str):
        plain = np.array(labels)
        if plain.dtype.kind in _PLAIN and plain.tolist() == labels:
            return plain
    raise InvalidInputError(
        f"classes of type {classes.dtype} ({', '.join(map(repr, labels[:5]))}) cannot be saved without "
        "pickle; train the model on labels that are all text, all numbers or all truth values."
    )


def _plain_categories(
    categories: tuple[tuple[Any, ...] | None, ...] | None,
) -> list[list[Label] | None] | None:
    """Labels of categories, feature by feature, as JSON can hold them."""
    if categories is None:
        return None
    return [None if labels is None else list(map(_plain_label, labels)) for labels in categories]


def _plain_label(label: Any) -> Label:
    plain: Any = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, Label):
        return plain
    raise InvalidInputError(
        f"the category {label!r} cannot be saved without pickle; train the model on categories that are "
        "text, numbers or truth values."
    )


def _labels_of_categories(stored: Any) -> tuple[tuple[Label, ...] | None, ...] | None:
    categories = _as_tuple(stored, "categories")
    if categories is None:
        return None
    labels = tuple(_as_tuple(own, "the categories of a feature") for own in categories)
    if not all(isinstance(label, Label) for own in labels if own is not None for label in own):
        raise InvalidInputError("categories must be texts, numbers or truth values.")
    return labels


def _as_tuple(stored: Any, what: str) -> tuple[Any, ...] | None:
    """A list as JSON has it, or None; a text must not pass for a list of letters."""
    if stored is None:
        return None
    if not isinstance(stored, list):
        raise InvalidInputError(f"{what} must be a list.")
    return tuple(stored)
