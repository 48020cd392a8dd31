"""From values by name, as they come from a dictionary or a request, to what the kernels take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune._price_lists import listed
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest


class Values:
    """Names of the features of a forest, and how their values are read, one by one."""

    def __init__(self, forest: Forest) -> None:
        self.names = forest.feature_names or tuple(f"x{k}" for k in range(forest.n_features))
        self.column: dict[str, int] = {name: k for k, name in enumerate(self.names)}
        self.dtype = forest.input_dtype
        self._allow_nan = forest.missing != "forbidden"
        categories = forest.categories or (None,) * forest.n_features
        self._number = [
            None if known is None else {category: float(i) for i, category in enumerate(known)}
            for known in categories
        ]
        # A dictionary with plain numbers for all features is read at once.
        has_numbers_only = all(number is None for number in self._number) and len(self.names) > 1
        self._all: Callable[[Any], tuple[Any, ...]] | None = (
            itemgetter(*self.names) if has_numbers_only else None
        )

    def column_of(self, name: Any) -> int:
        """Number of a feature, by its name."""
        try:
            return self.column[name]
        except (KeyError, TypeError):
            raise InvalidInputError(
                f"there is no feature {name!r}; the features are {listed(map(repr, self.names))}."
            ) from None

    def fill(self, row: NDArray[Any], values: Mapping[str, Any], what: str) -> list[int]:
        """Write values into a row, and return which features they belong to."""
        if not isinstance(values, Mapping):
            raise InvalidInputError(
                f"{what} must be a mapping from feature names to values, not {type(values).__name__}."
            )
        read = [(k, self.read(k, value)) for k, value in ((self.column_of(n), v) for n, v in values.items())]
        for k, number in read:
            row[k] = number
        return [k for k, _ in read]

    def read(self, k: int, value: Any) -> float:
        """One value as the number that the trees compare, or an error that says what is wrong with it."""
        name, number = self.names[k], self._number[k]
        if number is not None:
            try:
                value = number.get(value, np.nan)  # a category that nobody knows is missing
            except TypeError:
                raise InvalidInputError(f"the value of {name!r} is no category: {value!r}.") from None
        elif value is None:
            value = np.nan
        elif not isinstance(value, int | float | np.number | np.bool_) or isinstance(
            value, np.complexfloating
        ):
            raise InvalidInputError(
                f"the value of {name!r} must be a number, not {type(value).__name__} ({str(value)[:40]!r})."
            )
        try:
            with np.errstate(over="ignore"):
                read = float(self.dtype.type(value))
        except OverflowError:
            read = np.inf
        if np.isinf(read):
            raise InvalidInputError(
                f"the value of {name!r} is an infinity or too large for {self.dtype} "
                f"({str(value)[:40]}); clip it."
            )
        if np.isnan(read) and not self._allow_nan:
            raise InvalidInputError(
                f"the value of {name!r} is missing, which this forest cannot route: impute it as in training."
            )
        return read

    def read_all(self, values: Mapping[str, Any]) -> NDArray[Any] | None:
        """All values at once, if all are there and plain numbers without surprises; else None."""
        if self._all is None:
            return None
        try:
            row = np.array(self._all(values))
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        if row.dtype.kind not in "fi" or row.ndim != 1:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = row.astype(self.dtype, copy=False)
            return rounded if np.isfinite(rounded.sum()) else None
