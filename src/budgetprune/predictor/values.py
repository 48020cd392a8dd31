"""Conversion of named values, from a dictionary or a request, to the input of the kernels."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import is_pandas, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, numbers_of
from budgetprune.predictor.values_kernels import read_numbers

_NUMBERS = (int, float, np.number, np.bool_)
_NO_NUMBERS = (np.complexfloating, np.timedelta64)


class Values:
    """Reader of feature values by name, for a forest."""

    def __init__(self, forest: Forest) -> None:
        self.names = forest.names
        self.column: dict[str, int] = {name: k for k, name in enumerate(self.names)}
        self.dtype = forest.input_dtype
        self._allow_nan = forest.missing != "forbidden"
        categories = forest.feature_categories
        numbers = [
            None if known is None else numbers_of(known, forest.other_category) for known in categories
        ]
        self._number = [None if each is None else each[0] for each in numbers]
        self._unknown = [np.nan if each is None else each[1] for each in numbers]
        self._other = forest.other_category
        self._has_numbers_only = all(number is None for number in self._number)

    def empty_row(self) -> Any:
        """Return a row without known values."""
        return np.zeros(len(self.names))

    def column_of(self, name: Any) -> int:
        """Return the column of a feature, by its name."""
        try:
            return self.column[name]
        except (KeyError, TypeError):
            raise InvalidInputError(
                f"there is no feature {name!r}; the features are {join_first(map(repr, self.names))}."
            ) from None

    def read_named(self, values: Mapping[str, Any], what: str) -> list[tuple[int, float]]:
        """Return columns and converted values of a mapping, or raise InvalidInputError."""
        if not isinstance(values, Mapping):
            raise InvalidInputError(
                f"{what} must be a mapping from feature names to values, not {type(values).__name__}."
            )
        named = ((self.column_of(name), value) for name, value in values.items())
        return [(k, self.read(k, value)) for k, value in named]

    def read(self, k: int, value: Any) -> float:
        """Convert one value to the number that the trees compare, or raise InvalidInputError."""
        name, number = self.names[k], self._number[k]
        if number is not None:
            value = self._category(k, value)
        return self._allowed(k, read_number(name, value, self.dtype))

    def read_encoded(self, k: int, number: float) -> float:
        """Round a feature that was computed from raw values to the precision of the trees."""
        return self._allowed(k, read_number(self.names[k], float(number), self.dtype))

    def _allowed(self, k: int, number: float) -> float:
        if np.isnan(number) and not self._allow_nan:
            raise InvalidInputError(
                f"the value of {self.names[k]!r} is missing, which this forest cannot route: impute it as in "
                "training."
            )
        return number

    def _category(self, k: int, value: Any) -> float:
        """Return the code of a category; unknown categories of an accepted type count as missing."""
        number = self._number[k]
        assert number is not None
        try:
            found = number.get(value)
        except TypeError:
            raise InvalidInputError(
                f"the value of {self.names[k]!r} is not a category: {_shown(value)}."
            ) from None
        if found is not None:
            return found
        is_missing = _is_missing(value)
        is_other = [isinstance(known, str) != isinstance(value, str) for known in number]
        if not is_missing and is_other and all(is_other):
            raise InvalidInputError(
                f"the value of {self.names[k]!r} is {_shown(value)}, but its categories in training were "
                f"{join_first(map(repr, number))}; use those."
            )
        return np.nan if is_missing else self._unknown[k]

    def unknown_categories(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return the features of valid values whose category is unknown, and the meaning of the value."""
        if self._has_numbers_only:
            return {}
        named = ((name, self.column_of(name), value) for name, value in values.items())
        return {name: self._meaning_of_unknown(k) for name, k, value in named if self._is_unknown(k, value)}

    def _meaning_of_unknown(self, k: int) -> str:
        return "missing" if np.isnan(self._unknown[k]) else repr(self._other)

    def _is_unknown(self, k: int, value: Any) -> bool:
        known = self._number[k]
        return known is not None and not _is_missing(value) and value not in known

    def read_all(self, values: Mapping[str, Any]) -> NDArray[np.float64] | None:
        """Convert all values in one step if all are present and plain numbers; else return None."""
        # Other mappings may be lazy, so only needed values are looked up.
        if not self._has_numbers_only or type(values) is not dict:
            return None
        row = np.empty(len(self.names))
        is_single = self.dtype == np.float32
        return row if read_numbers(values, self.names, row, is_single, self._allow_nan) else None


def _is_missing(value: Any) -> bool:
    return bool(value is None or _is_na(value) or value != value)


def read_number(name: str, value: Any, dtype: np.dtype[Any]) -> float:
    """Round a value to a precision; missing values become NaN. Raise if it is not a finite number."""
    if value is None or _is_na(value):
        value = np.nan
    elif not isinstance(value, _NUMBERS) or isinstance(value, _NO_NUMBERS):
        raise InvalidInputError(
            f"the value of {name!r} must be a number, not {type(value).__name__} ({_shown(value)})."
        )
    try:
        with np.errstate(over="ignore"):
            read = float(dtype.type(float(value)))
    except OverflowError:
        read = np.inf
    if np.isinf(read):
        raise InvalidInputError(
            f"the value of {name!r} is an infinity or too large for {dtype} ({_shown(value)}); clip it."
        )
    return read


def as_mapping(values: Any) -> Any:
    """Return a pandas Series, such as a row of a table, as a dictionary; anything else stays as it is."""
    return dict(values.items()) if is_pandas(values, "Series") else values


def _is_na(value: Any) -> bool:
    """Whether a value is pandas.NA; pandas is not imported, since a caller who passes NA has done so."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is pandas.NA


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:  # an invalid `__repr__` must not hide the error message
        return f"a {type(value).__name__}"
