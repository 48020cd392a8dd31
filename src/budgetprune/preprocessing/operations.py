"""Operations that compute encoded columns from raw ones, with numpy alone.

A column is an array of numbers, or of objects in which None is a missing value. Each operation is a plain
description that model files can hold. All columns of a step of scikit-learn become operations of one column
each, so that a column can be computed as soon as those that it needs are known.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError

Label = str | int | float | bool | None
Column = NDArray[Any]

_WITH_OPERAND: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "above": np.greater,
}
# Functions of numpy that a FunctionTransformer may use.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in (
        *("abs", "ceil", "cbrt", "cos", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2"),
        *("negative", "reciprocal", "sign", "sin", "sqrt", "square", "tan", "tanh"),
    )
}
# A sparse matrix that a library reads as missing where it stores no number.
ZERO_IS_MISSING = "zero is missing"


class Operation:
    """Operation on the columns `inputs`, which are given by their numbers in a `Preprocessing`."""

    kind: ClassVar[str]
    inputs: tuple[int, ...]

    @property
    def n_outputs(self) -> int:
        """Number of columns that the operation computes."""
        return 1

    @property
    def output_needs(self) -> list[Sequence[int]]:
        """For each output, the positions in `inputs` of the columns that it depends on."""
        return [range(len(self.inputs))] * self.n_outputs

    @property
    def takes_objects(self) -> bool:
        """Whether the input may hold strings."""
        return False

    @abstractmethod
    def apply(self, columns: Sequence[Column | None]) -> list[Column | None]:
        """Compute the outputs; None is an unknown column."""


class SimpleOperation(Operation):
    """Operation all of whose outputs need all inputs."""

    def apply(self, columns: Sequence[Column | None]) -> list[Column | None]:
        """Compute the outputs; None is an unknown column."""
        known = [column for column in columns if column is not None]
        return [None] * self.n_outputs if len(known) < len(columns) else list(self.compute(known))

    @abstractmethod
    def compute(self, columns: list[Column]) -> Sequence[Column]:
        """Compute the outputs from inputs that are all known."""


@dataclass(frozen=True)
class Arithmetic(SimpleOperation):
    """Functions of one number, one after the other, such as the two steps of a scaler.

    Attributes
    ----------
    inputs : the column
    steps : pairs of a name and an operand, None for functions without one
    """

    kind = "arithmetic"
    inputs: tuple[int, ...]
    steps: tuple[tuple[str, float | None], ...]

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        (column,) = columns
        with np.errstate(all="ignore"):
            for name, operand in self.steps:
                if name == ZERO_IS_MISSING:
                    column = np.where(column == 0, np.nan, column)
                elif operand is None:
                    column = FUNCTIONS[name](column)
                else:
                    is_missing = np.isnan(column) if name == "above" else None
                    column = np.asarray(_WITH_OPERAND[name](column, operand), dtype=np.float64)
                    if is_missing is not None:
                        column[is_missing] = np.nan
        return [column]

    def check(self) -> None:
        """Raise InvalidInputError unless all steps are known."""
        for name, operand in self.steps:
            needs_operand = name in _WITH_OPERAND
            is_known = needs_operand or name in FUNCTIONS or name == ZERO_IS_MISSING
            if not is_known or needs_operand != isinstance(operand, int | float):
                raise InvalidInputError(f"arithmetic has no step {name!r} with the operand {operand!r}.")


@dataclass(frozen=True)
class _ByLabel(SimpleOperation):
    """Base of the operations that look up a category.

    Attributes
    ----------
    inputs : the column
    labels : categories; None is a missing value
    place : name of the column and the step, for messages
    """

    inputs: tuple[int, ...]
    labels: tuple[Label, ...]
    place: str

    refuses_unknown: ClassVar[bool] = False

    @cached_property
    def _number(self) -> dict[Label, int]:
        return {label: k for k, label in enumerate(self.labels)}

    @property
    def takes_objects(self) -> bool:
        return any(isinstance(label, str) for label in self.labels)

    def codes(self, column: Column) -> NDArray[np.intp]:
        """Return the number of each value's category, -1 if it is unknown."""
        number = self._number
        try:
            found = np.array([number.get(value, -1) for value in column.tolist()], dtype=np.intp)
        except TypeError:
            raise InvalidInputError(f"{self.place} must hold categories, not lists or records.") from None
        if column.dtype != object and None in number:
            found[np.isnan(column)] = number[None]
        return found

    def refuse(self, column: Column, codes: NDArray[np.intp]) -> None:
        """Raise for an unknown category."""
        if codes.size and codes.min() < 0:
            value = column.tolist()[int(np.argmin(codes))]
            what = "a missing value" if value is None or value != value else repr(value)
            known = ", ".join(repr(label) for label in self.labels[:5])
            raise InvalidInputError(
                f"{self.place} holds {what}, which was no category in training ({known}"
                f"{', ...' if len(self.labels) > 5 else ''}), and the encoder was made with "
                "handle_unknown='error'; use a known category, or train with another handle_unknown."
            )


@dataclass(frozen=True)
class OneHot(_ByLabel):
    """Columns of zeros, with a one where the category is.

    Attributes
    ----------
    position : for each label, the output that is 1; -1 for none
    size : number of outputs
    unknown : the output that is 1 for an unknown category; -1 for none; None: it is an error
    """

    kind = "one-hot"
    position: tuple[int, ...]
    size: int
    unknown: int | None

    @property
    def n_outputs(self) -> int:
        return self.size

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        codes = self.codes(columns[0])
        if self.unknown is None:
            self.refuse(columns[0], codes)
        # The last entry is the one of the code -1.
        position = np.array([*self.position, -1 if self.unknown is None else self.unknown])[codes]
        return [np.asarray(position == k, dtype=np.float64) for k in range(self.size)]

    def check(self) -> None:
        """Raise InvalidInputError unless all positions exist."""
        given = [*self.position, -1 if self.unknown is None else self.unknown]
        if len(self.position) != len(self.labels) or not all(-1 <= k < self.size for k in given):
            raise InvalidInputError("a one-hot encoding has a position that does not exist.")


@dataclass(frozen=True)
class Lookup(_ByLabel):
    """Numbers by category, such as ordinal numbers or means of the target.

    Attributes
    ----------
    values : for each output, one number per label
    unknown : for each output, the number of an unknown category; None: it is an error
    """

    kind = "lookup"
    values: tuple[tuple[float, ...], ...]
    unknown: tuple[float, ...] | None

    @property
    def n_outputs(self) -> int:
        return len(self.values)

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        codes = self.codes(columns[0])
        if self.unknown is None:
            self.refuse(columns[0], codes)
        others = (np.nan,) * len(self.values) if self.unknown is None else self.unknown
        return [np.array([*each, last])[codes] for each, last in zip(self.values, others, strict=True)]

    def check(self) -> None:
        """Raise InvalidInputError unless there is a number for each label."""
        n_unknown = len(self.values if self.unknown is None else self.unknown)
        if n_unknown != len(self.values) or any(len(each) != len(self.labels) for each in self.values):
            raise InvalidInputError("a lookup table must have one number for each category.")


@dataclass(frozen=True)
class Fill(SimpleOperation):
    """Replace missing values.

    Attributes
    ----------
    inputs : the column
    marker : the value that means missing; None: missing values themselves
    value : what replaces it
    """

    kind = "fill"
    inputs: tuple[int, ...]
    marker: Label
    value: Label

    @property
    def takes_objects(self) -> bool:
        return isinstance(self.value, str) or isinstance(self.marker, str)

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        (column,) = columns
        found = column.copy()
        found[is_marked(column, self.marker)] = self.value
        return [found]


@dataclass(frozen=True)
class Indicator(SimpleOperation):
    """One where a value is missing, else zero; `marker` as in `Fill`."""

    kind = "indicator"
    inputs: tuple[int, ...]
    marker: Label

    @property
    def takes_objects(self) -> bool:
        return isinstance(self.marker, str)

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        return [is_marked(columns[0], self.marker).astype(np.float64)]


@dataclass(frozen=True)
class Bins(SimpleOperation):
    """Number of the interval that a number lies in; `edges` are the borders between intervals."""

    kind = "bins"
    inputs: tuple[int, ...]
    edges: tuple[float, ...]

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        found = np.searchsorted(self.edges, columns[0], side="right").astype(np.float64)
        found[np.isnan(columns[0])] = np.nan
        return [found]


@dataclass(frozen=True)
class Product(SimpleOperation):
    """Product of columns, from left to right; of no column at all: 1."""

    kind = "product"
    inputs: tuple[int, ...]
    size: ClassVar[int] = 1

    def compute(self, columns: list[Column]) -> Sequence[Column]:
        found = columns[0]
        with np.errstate(all="ignore"):
            for column in columns[1:]:
                found = found * column
        return [found]


KINDS: Mapping[str, type[Operation]] = {
    each.kind: each for each in (Arithmetic, OneHot, Lookup, Fill, Indicator, Bins, Product)
}


def is_marked(column: Column, marker: Label) -> NDArray[np.bool_]:
    """Find the values that equal a marker; None: the missing values."""
    if marker is not None:
        return np.asarray(column == marker, dtype=np.bool_)
    if column.dtype == object:
        return np.array([value is None for value in column.tolist()], dtype=np.bool_)
    return np.isnan(column)
