"""Meanings of the tensors in an ONNX graph around a tree operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Constant:
    """A tensor that is stored in the model."""

    value: NDArray[Any]


@dataclass(frozen=True)
class Columns:
    """Columns of the input, in the order in which the trees number them.

    Attributes
    ----------
    names : names of single columns, None if they are in one tensor
    width : their number, None if the model does not say
    element : type of the tensor
    precision : narrowest type that the numbers went through, None for whole numbers
    """

    names: tuple[str, ...] | None
    width: int | None
    element: np.dtype[Any]
    precision: np.dtype[Any] | None


@dataclass(frozen=True)
class Scores:
    """Sums of the trees, divided by `divisor`, plus `shift`, which has one entry per output."""

    divisor: float
    shift: NDArray[np.float64]


@dataclass(frozen=True)
class Exponential:
    """Exponential of a single score."""

    scores: Scores


@dataclass(frozen=True)
class Sigmoid:
    """Logistic function of a single score."""

    scores: Scores


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of all classes.

    The link "share" has one score, the probability of the second class.
    """

    link: Literal["share", "identity", "logistic", "softmax"]
    scores: Scores


@dataclass(frozen=True)
class LabelNumber:
    """Number of the class with the largest score; with a `cut`, 1 if a single score exceeds it, else 0.

    `takes_equal`: whether a score that equals the cut gives 1 too.
    """

    scores: Scores
    cut: float | None = None
    takes_equal: bool = False


@dataclass(frozen=True)
class Labels:
    """Label of each row."""

    number: LabelNumber
    classes: NDArray[Any]


@dataclass(frozen=True)
class Part:
    """Some columns of the probabilities."""


@dataclass(frozen=True)
class Unknown:
    """Result of an operator that is not understood."""

    operator: str


Term: TypeAlias = (
    Constant
    | Columns
    | Scores
    | Exponential
    | Sigmoid
    | Probabilities
    | LabelNumber
    | Labels
    | Part
    | Unknown
)
